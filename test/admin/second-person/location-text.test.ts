import { expect, test } from 'bun:test'
import { locationText } from '../../../src/admin/second-person/location-text.ts'

test('a URL is shown by host, path and the names of its parameters, and two that differ look different', () => {
  const shown = locationText('https://lists.example/acme/a.csv?key=topsecret&branch=main')
  expect(shown).toMatch(/^lists\.example\/acme\/a\.csv\?key=…&branch=… \(sha256 [0-9a-f]{16}\)$/)
  const others = ['key=other&branch=main', 'key=topsecret&branch=mine', 'key=topsecret'].map((query) =>
    locationText(`https://lists.example/acme/a.csv?${query}`),
  )
  expect(new Set([shown, ...others]).size).toBe(4)
})

test('one URL looks the same however it is written', () => {
  const shown = locationText('https://lists.example/a.csv')
  for (const same of ['HTTPS://Lists.Example/a.csv', 'https://lists.example:443/b/../a.csv']) {
    expect(locationText(same)).toBe(shown)
  }
})

test('of a file only a hash is shown', () => {
  const shown = locationText('/srv/private/a.csv')
  expect(shown).toMatch(/^a file on the server \(sha256 [0-9a-f]{16}\)$/)
  expect(locationText('/srv/private/b.csv')).not.toBe(shown)
})
