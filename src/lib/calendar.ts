/** UTC, YYYY-MM-DD. */
export const dayOf = (nowSeconds: number): string => new Date(nowSeconds * 1000).toISOString().slice(0, 10)

/** Whole years. */
export const ageOn = (birthDate: string, nowSeconds: number): number => {
  const today = dayOf(nowSeconds)
  const years = Number(today.slice(0, 4)) - Number(birthDate.slice(0, 4))
  return today.slice(5) < birthDate.slice(5) ? years - 1 : years
}
