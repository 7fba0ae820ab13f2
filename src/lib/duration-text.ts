/** The two largest units: `2 h 5 min`. */
export const durationText = (seconds: number): string => {
  const parts = [
    { unit: 'd', size: 86_400 },
    { unit: 'h', size: 3_600 },
    { unit: 'min', size: 60 },
    { unit: 's', size: 1 },
  ]
  const first = parts.findIndex(({ size }) => seconds >= size)
  const shown = parts.slice(first < 0 ? -1 : first).slice(0, 2)
  let left = seconds
  return shown
    .flatMap(({ unit, size }, index) => {
      const count = Math.floor(left / size)
      left -= count * size
      return count === 0 && index > 0 ? [] : [`${count} ${unit}`]
    })
    .join(' ')
}
