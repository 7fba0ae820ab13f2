import { expect, test } from 'bun:test'
import { matchesPath } from '../../src/lib/path-pattern.ts'

test('a parameter matches one nonempty segment, and other segments match themselves', () => {
  const matches = (declared: string, path: string): boolean => matchesPath(declared.split('/'), path.split('/'))
  for (const declared of ['/a/:id/b', '/a/{id}/b']) {
    expect(matches(declared, '/a/1/b')).toBe(true)
    for (const other of ['/a//b', '/a/1', '/a/1/b/', '/a/1/c', '/a/1/2/b']) expect(matches(declared, other)).toBe(false)
  }
})
