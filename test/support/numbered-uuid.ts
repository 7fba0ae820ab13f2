/** Returns a version 4 uuid that contains the number. */
export const u = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
