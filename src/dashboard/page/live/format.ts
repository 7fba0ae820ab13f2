// Numbers as the live page writes them: no more digits than one reads at a glance, and always the same for the same size,
// so that nothing moves beside them.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** Three digits or so, and all of what is before the point: `0.04`, `2.31`, `41.2`, `30,120`; whole numbers whole. */
export const formatNumber = (value: number): string => {
  if (Number.isInteger(value)) return whole.format(value)
  if (Math.abs(value) < 1) return value.toPrecision(2)
  if (Math.abs(value) < 10) return value.toFixed(2)
  return Math.abs(value) < 100 ? value.toFixed(1) : whole.format(value)
}

/** For the ticks of an axis: `0`, `0.5`, `30K`. */
export const formatTick = (value: number): string => compact.format(value)

const MEGABYTE = 1_000_000
export const formatMegabytes = (bytes: number): string => `${whole.format(bytes / MEGABYTE)} MB`

const minutes = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
/** For the ticks of the axis of time. */
export const formatMinute = (atMs: number): string => minutes.format(new Date(atMs))

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
/** Of the day, in the browser's own zone. */
export const formatClock = (atMs: number): string => clock.format(new Date(atMs))
