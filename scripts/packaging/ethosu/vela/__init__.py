# SPDX-License-Identifier: Apache-2.0
"""nputools in the place of Vela, for what imports ethosu.vela."""
