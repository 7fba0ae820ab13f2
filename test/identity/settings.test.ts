// Settings of the verification page and of streams.
import { describe, expect, test } from 'bun:test'
import { loadConfig } from '../../src/config/config.ts'

const portalUrlOf = (text: string): string =>
  loadConfig({ arguments: [], environment: { COUNTERSIGN_PORTAL_URL: text } }).portalUrl

describe('the URL of the verification page', () => {
  test.each([
    ['', ''],
    ['https://verify.example.com', 'https://verify.example.com'],
    ['https://verify.example.com/', 'https://verify.example.com'],
    ['https://example.com/verify/', 'https://example.com/verify'],
    ['http://127.0.0.1:8081', 'http://127.0.0.1:8081'],
    ['http://localhost:8081/', 'http://localhost:8081'],
  ])('%p is %p', (text, expected) => {
    expect(portalUrlOf(text)).toBe(expected)
  })

  test.each([
    'verify.example.com',
    'http://verify.example.com',
    'ftp://verify.example.com',
    'https://user:password@verify.example.com',
    'https://verify.example.com/?a=b',
    'https://verify.example.com/#a',
    `https://verify.example.com/${'x'.repeat(200)}`,
  ])('%p is refused at startup', (text) => {
    expect(() => portalUrlOf(text)).toThrow('COUNTERSIGN_PORTAL_URL must be an https URL')
  })
})

test('the limits of streams must be positive', () => {
  const config = loadConfig({ arguments: ['--streams-max', '7', '--streams-per-key-max=3'], environment: {} })
  expect(config).toMatchObject({ streamsMax: 7, streamsPerKeyMax: 3 })
  expect(() => loadConfig({ arguments: ['--streams-max', '0'], environment: {} })).toThrow('--streams-max')
})
