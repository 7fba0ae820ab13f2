// biome-ignore-all lint/suspicious/noTemplateCurlyInString: settings contain placeholders of that form
// Settings of screeners: defaults, and refusals with their position.
import { describe, expect, test } from 'bun:test'
import { parse } from 'yaml'
import { parseScreenerSettings, ScreenerSettingsError } from '../../src/facts/screener-settings.ts'

const MINIMAL = `
risk:
  url: https://screener.example/wallets/\${address}
  answer: { flagged: /blocked }
`

const FULL = `
risk:
  url: https://screener.example/v1/screen?network=\${chain}
  method: POST
  headers: { Authorization: "Bearer \${secret}", x-chain: "\${chain_id}" }
  secret: { env: RISK_KEY }
  body: { wallet: "\${address}", options: [1, true, null, "\${chain}"] }
  answer:
    address: /wallet
    flagged: { at: /risk/level, equals: [high, severe] }
    score: { at: /risk/score, times: 100, optional: true }
    categories: /risk/labels
  timeout-ms: 1500
  cache-seconds: 0
  reach: private
`

const problemOf = (yaml: string): string => {
  try {
    parseScreenerSettings(parse(yaml))
  } catch (error) {
    expect(error).toBeInstanceOf(ScreenerSettingsError)
    const { message } = error as ScreenerSettingsError
    expect(message).not.toContain('\n')
    return message.replace('screeners: ', '')
  }
  throw new Error('the settings were accepted')
}

const withSetting = (text: string): string => `risk: { url: "https://a.example/", answer: { flagged: /a }, ${text} }`
const withUrl = (text: string): string => `risk: { url: "${text}", answer: { flagged: /a } }`
const withAnswer = (text: string): string => `risk: { url: "https://a.example/", answer: ${text} }`

describe('the settings of a screener', () => {
  test('have defaults for everything optional', () => {
    expect(parseScreenerSettings(undefined).size).toBe(0)
    expect(parseScreenerSettings(parse(MINIMAL)).get('risk')).toEqual({
      name: 'risk',
      url: 'https://screener.example/wallets/${address}',
      method: 'GET',
      headers: {},
      secret: null,
      body: null,
      answer: {
        address: null,
        flagged: { at: '/blocked', equals: null, optional: false },
        score: null,
        categories: null,
      },
      timeoutMs: 3_000,
      cacheMs: 60_000,
      reach: 'public',
    })
  })

  test('describe the request and the answer', () => {
    expect(parseScreenerSettings(parse(FULL)).get('risk')).toMatchObject({
      method: 'POST',
      headers: { authorization: 'Bearer ${secret}', 'x-chain': '${chain_id}' },
      secret: { env: 'RISK_KEY' },
      body: { wallet: '${address}', options: [1, true, null, '${chain}'] },
      answer: {
        address: '/wallet',
        flagged: { at: '/risk/level', equals: ['high', 'severe'], optional: false },
        score: { at: '/risk/score', times: 100, optional: true },
        categories: { at: '/risk/labels', optional: false },
      },
      timeoutMs: 1_500,
      cacheMs: 0,
      reach: 'private',
    })
  })

  const PLACEHOLDER = 'uses the unknown placeholder ${secret}'
  const HOST = 'risk.url must not have a placeholder in its host'
  test.each([
    ['[]', 'it must be a mapping'],
    ['Risk: {}', 'Risk is not a valid name'],
    ['risk: 1', 'risk must be a mapping'],
    ['risk: { url: "https://a.example/" }', 'risk.answer must be a mapping'],
    [withAnswer('{}'), 'risk.answer must map at least one'],
    [withSetting('timeout: 1'), 'risk.timeout is not a known setting'],
    [withSetting('timeout-ms: 10'), 'risk.timeout-ms must be a whole number from 50 to 20000'],
    [withSetting('cache-seconds: 1.5'), 'risk.cache-seconds must be'],
    [withSetting('method: PUT'), 'risk.method must be GET or POST'],
    [withSetting('reach: everywhere'), 'risk.reach must be one of'],
    [withSetting('body: { a: "${secret}" }'), `risk.body.a ${PLACEHOLDER}`],
    [withSetting('headers: { a: "${secret}" }'), `risk.headers.a ${PLACEHOLDER}`],
    [withSetting('headers: { host: a }'), 'risk.headers.host is not a permitted header'],
    [withSetting('headers: { a: "x\\r\\ny" }'), 'risk.headers.a must be a line of ASCII text'],
    [withSetting('secret: s3cret'), 'risk.secret must be a mapping'],
    [withSetting('secret: { value: s3cret }'), 'risk.secret.value is not a known setting'],
    [withSetting('secret: { env: A, file: /b }'), 'risk.secret must contain either env or file'],
    // A request cannot choose the host.
    [withUrl('http://screener.example/'), 'risk.url must be an https URL'],
    [withUrl('https://10.0.0.1/'), 'risk.url resolves to an address that is not allowed'],
    [withUrl('https://k:s@screener.example/'), 'risk.url must not contain credentials'],
    [withUrl('https://${chain}.example/'), HOST],
    [withUrl('https://a.example:${chain_id}/'), HOST],
    [
      withUrl('https://a.example/${from}'),
      'risk.url uses the unknown placeholder ${from}; valid placeholders: ${address}',
    ],
    [withAnswer('{ flagged: blocked }'), 'risk.answer.flagged must be a JSON Pointer'],
    [withAnswer('{ flagged: { at: /a~2 } }'), 'risk.answer.flagged.at must be a JSON Pointer'],
    [withAnswer('{ flagged: { at: /a, is: 1 } }'), 'risk.answer.flagged.is is not a known setting'],
    [withAnswer('{ flagged: { at: /a, equals: { b: 1 } } }'), 'risk.answer.flagged.equals must contain only'],
    [withAnswer('{ score: { at: /a, times: 0 } }'), 'risk.answer.score.times must be'],
    [withAnswer('{ score: { at: /a, optional: 1 } }'), 'risk.answer.score.optional must be true or false'],
    [withAnswer('{ verdict: /a }'), 'risk.answer.verdict is not a known setting'],
  ])('are refused: %s', (yaml, problem) => expect(problemOf(yaml)).toStartWith(problem))
})
