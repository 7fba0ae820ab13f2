/** A uuid of version 4 that says which one it is. */
export const u = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
