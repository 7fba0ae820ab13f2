// Few digits, and a constant width per magnitude so that adjacent content doesn't move.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** Formats about three digits, and all digits of the integer part: `0.04`, `2.31`, `41.2`, `30,120`. */
export const formatNumber = (value: number): string => {
  if (Number.isInteger(value)) return whole.format(value)
  if (Math.abs(value) < 1) return value.toPrecision(2)
  if (Math.abs(value) < 10) return value.toFixed(2)
  return Math.abs(value) < 100 ? value.toFixed(1) : whole.format(value)
}

export const formatTick = (value: number): string => compact.format(value)

const MEGABYTE = 1_000_000
export const formatMegabytes = (bytes: number): string => `${whole.format(bytes / MEGABYTE)} MB`

const minutes = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
export const formatMinute = (atMs: number): string => minutes.format(new Date(atMs))

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
export const formatClock = (atMs: number): string => clock.format(new Date(atMs))
