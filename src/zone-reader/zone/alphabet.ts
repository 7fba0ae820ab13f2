// What may stand in a machine-readable zone. Source: ICAO 9303-3, §4.3.

/** Index → character: the classifier's outputs are in this order. */
export const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<'
