// Days of a date field as the API is asked: points in time.

/** The beginning of a day here, or of the day so many days later; empty for what is no day. */
export const startOf = (day: string, daysLater: number): string => {
  const start = new Date(`${day}T00:00:00`)
  if (day === '' || Number.isNaN(start.getTime())) return ''
  start.setDate(start.getDate() + daysLater)
  return start.toISOString()
}
