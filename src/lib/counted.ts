/** Returns a number with its unit in singular or plural: `1 line`, `0 lines`, `1,000 lines`. */
export const counted = (count: number, one: string, other: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : other}`
