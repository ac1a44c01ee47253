// SPDX-License-Identifier: Apache-2.0
// Writes what the programs of a release consist of to standard output: CycloneDX in JSON, made
// and checked by CycloneDX's own library.  It has no time and no random number.
// usage: NODE_PATH=... node make-sbom.js VERSION COMMIT
"use strict";
const { execFileSync } = require("child_process");
const CDX = require("@cyclonedx/cyclonedx-library");

const [version, commit] = process.argv.slice(2);
if (!commit) {
	console.error("usage: make-sbom.js VERSION COMMIT");
	process.exit(2);
}

// the version of an installed Debian package; "": it is not installed
const debian = (name) => {
	try {
		return execFileSync("dpkg-query", ["-W", "-f", "${Version}", name],
			{ stdio: ["ignore", "pipe", "ignore"] }).toString();
	} catch {
		return "";
	}
};

// what the linker puts into the programs, with the reason
const parts = [
	["xxhash", "libxxhash-dev", "BSD-2-Clause", "hashes of graphs and weights: a header alone"],
	["glibc", "libc6-dev", "LGPL-2.1-or-later", "the C library of static programs"],
	["libpng", "libpng-dev", "libpng-2.0", "pictures, in packages with shared libraries"],
	["libsndfile", "libsndfile1-dev", "LGPL-2.1-or-later",
		"sounds, in packages with shared libraries"],
];

const license = (id) => new CDX.Models.SpdxLicense(id);
const bom = new CDX.Models.Bom();
const main = new CDX.Models.Component(CDX.Enums.ComponentType.Application, "nputools", {
	version,
	bomRef: `nputools@${version}`,
	licenses: new CDX.Models.LicenseRepository([license("Apache-2.0")]),
	description: "Compiles quantized TensorFlow Lite and TOSA models for Arm Ethos-U NPUs",
});
main.properties.add(new CDX.Models.Property("nputools:commit", commit));
bom.metadata.component = main;
for (const [name, pkg, id, description] of parts) {
	const has = debian(pkg);
	if (!has)
		continue;
	const part = new CDX.Models.Component(CDX.Enums.ComponentType.Library, name, {
		version: has,
		bomRef: `${name}@${has}`,
		licenses: new CDX.Models.LicenseRepository([license(id)]),
		description,
	});
	bom.components.add(part);
	main.dependencies.add(part.bomRef);
}

const spec = CDX.Spec.Spec1dot6;
const text = new CDX.Serialize.JsonSerializer(new CDX.Serialize.JSON.Normalize.Factory(spec))
	.serialize(bom, { sortLists: true, space: "\t" });
new CDX.Validation.JsonStrictValidator(spec.version).validate(text).then((error) => {
	if (error) {
		console.error("make-sbom.js: not valid:", error);
		process.exit(1);
	}
	process.stdout.write(text + "\n");
});
