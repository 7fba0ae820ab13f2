// Given names and family names of many countries and languages, put together by chance. The names are @faker-js/faker's.
import { allLocales } from '@faker-js/faker'

export interface OrdinaryName {
  readonly name: string
  readonly locale: string
}

type Names = readonly string[] | null | undefined
type ByGender = { readonly generic?: Names; readonly female?: Names; readonly male?: Names } | null | undefined

const namesOf = (names: ByGender): readonly string[] => [
  ...(names?.generic ?? []),
  ...(names?.female ?? []),
  ...(names?.male ?? []),
]

/** Fewer say nothing of a country. */
const GIVEN_MIN = 20
const FAMILY_MIN = 15

const COUNTRIES = Object.entries(allLocales).flatMap(([locale, { person }]) => {
  const given = namesOf(person?.first_name as ByGender)
  const family = namesOf(person?.last_name as ByGender)
  return given.length < GIVEN_MIN || family.length < FAMILY_MIN ? [] : [{ locale, given, family }]
})

export const ordinaryNames = (random: () => number, count: number): readonly OrdinaryName[] => {
  const pick = (names: readonly string[]): string => names[Math.floor(random() * names.length)]!
  return Array.from({ length: count }, (_, at) => {
    const { locale, given, family } = COUNTRIES[at % COUNTRIES.length]!
    return { locale, name: `${pick(given)} ${pick(family)}` }
  })
}
