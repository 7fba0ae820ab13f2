// Random combinations of given names and family names of many countries and languages from @faker-js/faker.
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

/** Locales with fewer names are not representative. */
const GIVEN_MIN = 20
const FAMILY_MIN = 15

const COUNTRIES = Object.entries(allLocales).flatMap(([locale, { person }]) => {
  const given = namesOf(person?.first_name as ByGender)
  const family = namesOf(person?.last_name as ByGender)
  return given.length < GIVEN_MIN || family.length < FAMILY_MIN ? [] : [{ locale, given, family }]
})

const inSyllables = /^[\p{Script=Han}\p{Script=Hangul}]+$/u

const namesFrom = (countries: typeof COUNTRIES, random: () => number, count: number): readonly OrdinaryName[] => {
  const pick = (names: readonly string[]): string => names[Math.floor(random() * names.length)]!
  return Array.from({ length: count }, (_, at) => {
    const { locale, given, family } = countries[at % countries.length]!
    const [first, last] = [pick(given), pick(family)]
    return { locale, name: inSyllables.test(first + last) ? last + first : `${first} ${last}` }
  })
}

export const ordinaryNames = (random: () => number, count: number): readonly OrdinaryName[] =>
  namesFrom(COUNTRIES, random, count)

/** Locales whose names are in scripts without vowels or with syllables. */
const NATIVE = COUNTRIES.filter(({ locale }) => /^(?:ar|fa|he|ja|ko|ku_ckb|ur|zh)/.test(locale))

export const nativeNames = (random: () => number, count: number): readonly OrdinaryName[] =>
  namesFrom(NATIVE, random, count)
