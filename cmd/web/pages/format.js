// Functions that format numbers and times.
const UNITS = ["", "K", "M", "G", "T", "P"];

function scaled(value, base) {
	let unit = 0;
	while (value >= base && unit + 1 < UNITS.length) {
		value /= base;
		unit++;
	}
	return (unit && value < 10 ? value.toFixed(1) : value.toFixed(0)) + UNITS[unit];
}

export function bytes(value) {
	return value === undefined ? "-" : scaled(value, 1024);
}

export function perSecond(value) {
	return value === undefined ? "-" : scaled(value, 1024) + "B/s";
}

export function count(value) {
	return value === undefined ? "-" : scaled(value, 1000);
}

export function percent(value) {
	return value === undefined ? "-" : value.toFixed(value < 10 ? 2 : 0) + " %";
}

export function duration(seconds) {
	if (seconds === undefined) return "-";
	if (seconds < 120) return seconds.toFixed(0) + " s";
	if (seconds < 7200) return (seconds / 60).toFixed(0) + " min";
	if (seconds < 172800) return (seconds / 3600).toFixed(0) + " h";
	return (seconds / 86400).toFixed(0) + " d";
}

export function microseconds(ns) {
	return ns ? (ns / 1000).toFixed(0) + " us" : "-";
}

export function clock(ms) {
	return new Date(ms).toLocaleTimeString();
}
