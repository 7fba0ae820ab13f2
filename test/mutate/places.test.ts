// The list of places stays true: what it changes is there, once, and so are the tests that must notice.
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PLACES } from './list.ts'
import { AREAS, changed } from './place.ts'
import { reportOf, type Tried } from './report.ts'

const ROOT = join(import.meta.dir, '..', '..')
const all = AREAS.flatMap((area) => PLACES[area].map((place) => ({ area, place })))
const textOf = (file: string): string => {
  const path = join(ROOT, file)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

test('there are at least 200 places, each another', () => {
  expect(all.length).toBeGreaterThanOrEqual(200)
  expect(new Set(all.map(({ place }) => `${place.file}: ${place.what}`)).size).toBe(all.length)
  expect(new Set(all.map(({ place }) => `${place.file}\n${place.find}\n${place.replace}`)).size).toBe(all.length)
})

test('the text of each stands in its file exactly once, and what replaces it parses', () => {
  const transpiler = new Bun.Transpiler({ loader: 'ts' })
  const parses = (text: string): boolean => {
    try {
      transpiler.transformSync(text)
      return true
    } catch {
      return false
    }
  }
  const wrong = all.filter(({ place }) => {
    const mutant = changed(textOf(place.file), place)
    return mutant === null || place.find === place.replace || !parses(mutant)
  })
  expect(wrong.map(({ place }) => `${place.file}: ${place.what}`)).toEqual([])
})

test('the test files of each are there', () => {
  const missing = all.flatMap(({ place }) => place.tests.filter((path) => !existsSync(join(ROOT, path))))
  expect(missing).toEqual([])
  expect(all.filter(({ place }) => place.tests.length === 0)).toEqual([])
})

test('the goal is missed by one survivor in a guarded area, and by a list that is out of date', () => {
  const place = { what: 'a fault', file: 'src/a.ts', find: 'a', replace: 'b', tests: ['test/a.test.ts'] }
  const tried = (area: Tried['area'], result: Tried['result']): Tried => ({ area, place, result, by: null, seconds: 1 })
  const killed = Array.from({ length: 39 }, () => tried('http', 'killed'))
  expect(reportOf(killed).met).toBe(true)
  expect(reportOf([...killed, tried('signing', 'timed out')]).met).toBe(true)
  expect(reportOf([...killed, tried('http', 'survived')]).met).toBe(true)
  expect(reportOf([...killed, tried('signing', 'survived')]).met).toBe(false)
  expect(reportOf([...killed, tried('http', 'not applicable')]).met).toBe(false)
  expect(reportOf([...killed, tried('http', 'broken')]).met).toBe(false)
  expect(reportOf([...killed, ...[1, 2, 3].map(() => tried('http', 'survived'))]).met).toBe(false)
  expect(reportOf([]).met).toBe(false)
})
