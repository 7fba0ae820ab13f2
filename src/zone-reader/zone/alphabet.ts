// Characters of a machine-readable zone. Source: ICAO 9303-3, §4.3.

/** Index → character, in the order of the classifier's outputs. */
export const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<'
