import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { causesOf, errorClassOf, unreadableText, withPath } from '../../src/lib/named-error.ts'

test('causes are listed from the outside in, and the list ends even if they form a cycle', () => {
  const inner = new Error('inner')
  const outer = new TypeError('outer', { cause: inner })
  expect([...causesOf(outer)]).toEqual([outer, inner])
  expect([...causesOf(new Error('text', { cause: 'no error' }))]).toHaveLength(1)
  expect([...causesOf('no error')]).toEqual([])
  inner.cause = outer
  expect([...causesOf(outer)]).toEqual([outer, inner, outer, inner, outer])
})

const systemError = (path?: string): Error =>
  Object.assign(new Error('secret text'), { errno: -28, code: 'ENOSPC', ...(path === undefined ? {} : { path }) })

test('the class of an error contains the code and path of its system error, but not its message', () => {
  const outer = new TypeError('secret text', { cause: systemError() })
  expect(errorClassOf(outer)).toBe('TypeError: ENOSPC')
  expect(withPath(outer, '/data/log')).toBe(outer)
  expect(errorClassOf(outer)).toBe('TypeError: ENOSPC /data/log')
  expect(errorClassOf(withPath(systemError('/own'), '/other'))).toBe('Error: ENOSPC /own')
  // Only system errors have an errno.
  expect(errorClassOf(Object.assign(new RangeError('secret text'), { code: 'CONFLICT' }))).toBe('RangeError')
  expect(errorClassOf(withPath('text', '/data'))).toBe('string')
})

test('the message about an unreadable file contains the reason', () => {
  const codeOf = (path: string): string => {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      return unreadableText(error)
    }
  }
  expect([codeOf('/none/at/all'), codeOf('/')]).toEqual(['cannot be read (ENOENT)', 'cannot be read (EISDIR)'])
  expect(unreadableText(new Error('secret text'))).toBe('cannot be read')
})
