import { expect, test } from 'bun:test'
import { locationText } from '../../../src/admin/second-person/location-text.ts'

test('shows the host, path and parameter names of a URL, and distinguishes URLs by a hash', () => {
  const url = 'https://lists.example/acme/a.csv?key=topsecret&branch=main'
  const shown = locationText(url)
  expect(shown).toMatch(/^lists\.example\/acme\/a\.csv\?key=…&branch=… \(sha256 [0-9a-f]{16}\)$/)
  const others = [
    url.replace('topsecret', 'other'),
    url.replace('main', 'mine'),
    url.replace('&branch=main', ''),
    url.replace('acme', 'mallory'),
    url.replace('.example', '.example:8443'),
  ].map(locationText)
  expect(new Set([shown, ...others]).size).toBe(6)
})

test('shows the same text for each spelling of a URL', () => {
  const shown = locationText('https://lists.example/a.csv')
  for (const same of ['HTTPS://Lists.Example/a.csv', 'https://lists.example:443/b/../a.csv']) {
    expect(locationText(same)).toBe(shown)
  }
})

test('shows only a hash of a file path', () => {
  const shown = locationText('/srv/private/a.csv')
  expect(shown).toMatch(/^a file on the server \(sha256 [0-9a-f]{16}\)$/)
  expect(locationText('/srv/private/b.csv')).not.toBe(shown)
})
