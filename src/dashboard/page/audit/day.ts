/** Returns the start of a local day, or of the day `daysLater` days later; empty if the text isn't a day. */
export const startOf = (day: string, daysLater: number): string => {
  const start = new Date(`${day}T00:00:00`)
  if (day === '' || Number.isNaN(start.getTime())) return ''
  start.setDate(start.getDate() + daysLater)
  return start.toISOString()
}
