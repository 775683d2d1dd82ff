// SPDX-License-Identifier: GPL-2.0-only
/*
 * pprof-sums.js PROFILE: print a line "TYPE UNIT FUNCTION VALUE" for each type of value and each
 * function that holds some, as the npm package pprof-format reads them. It must be in NODE_PATH.
 */
"use strict";
const fs = require("fs");
const zlib = require("zlib");
const { Profile } = require("pprof-format");

const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(process.argv[2])));
const string = (number) => profile.stringTable.strings[Number(number)];
const byId = (list) => new Map(list.map((item) => [String(item.id), item]));
const locations = byId(profile.location);
const functions = byId(profile.function);

/* The first location of a sample is the innermost one, and so is its first line. */
function leaf(sample) {
	const line = locations.get(String(sample.locationId[0])).line[0];
	return string(functions.get(String(line.functionId)).name);
}

profile.sampleType.forEach((type, column) => {
	const sums = new Map();
	for (const sample of profile.sample) {
		const name = leaf(sample);
		sums.set(name, (sums.get(name) || 0n) + BigInt(sample.value[column]));
	}
	for (const [name, sum] of sums)
		if (sum)
			console.log(`${string(type.type)} ${string(type.unit)} ${name} ${sum}`);
});
