/** Warning and critical thresholds, in the unit of the chart. */
export interface Limits {
  readonly warn: number
  readonly bad: number
}

export const toneOf = (limits: Limits | undefined, value: number | null): 'bad' | 'warn' | null => {
  if (limits === undefined || value === null || value < limits.warn) return null
  return value < limits.bad ? 'warn' : 'bad'
}
