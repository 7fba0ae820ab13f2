// biome-ignore-all lint/suspicious/noTemplateCurlyInString: settings have placeholders of that form
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
  throw new Error('they were accepted')
}

/** The minimal screener with one line more, or another one instead. */
const withLine = (line: string): string => `${MINIMAL}  ${line}\n`

describe('the settings of a screener', () => {
  test('have defaults for all but what they must say', () => {
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

  test('say how to ask and how to read the answer', () => {
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

  test('are refused with the place and the reason', () => {
    expect(problemOf('[]')).toBe('it must be a mapping')
    expect(problemOf('Risk: {}')).toStartWith('Risk is not a valid name')
    expect(problemOf('risk: 1')).toBe('risk must be a mapping')
    expect(problemOf('risk: { url: "https://a.example/" }')).toBe('risk.answer must be a mapping')
    expect(problemOf('risk: { url: "https://a.example/", answer: {} }')).toStartWith(
      'risk.answer must map at least one',
    )
    expect(problemOf(withLine('timeout: 1'))).toBe('risk.timeout is not a known setting')
    expect(problemOf(withLine('timeout-ms: 10'))).toBe('risk.timeout-ms must be a whole number from 50 to 20000')
    expect(problemOf(withLine('cache-seconds: 1.5'))).toStartWith('risk.cache-seconds must be')
    expect(problemOf(withLine('method: PUT'))).toBe('risk.method must be GET or POST')
    expect(problemOf(withLine('reach: everywhere'))).toStartWith('risk.reach must be one of')
    expect(problemOf(withLine('body: { a: "${secret}" }'))).toStartWith(
      'risk.body.a uses the unknown placeholder ${secret}',
    )
    expect(problemOf(withLine('headers: { a: "${secret}" }'))).toStartWith(
      'risk.headers.a uses the unknown placeholder ${secret}',
    )
    expect(problemOf(withLine('headers: { host: a }'))).toBe('risk.headers.host is not a permitted header')
    expect(problemOf(withLine('headers: { a: "x\\r\\ny" }'))).toBe('risk.headers.a must be a line of ASCII text')
    expect(problemOf(withLine('secret: s3cret'))).toBe('risk.secret must be a mapping')
    expect(problemOf(withLine('secret: { value: s3cret }'))).toBe('risk.secret.value is not a known setting')
    expect(problemOf(withLine('secret: { env: A, file: /b }'))).toStartWith(
      'risk.secret must contain either env or file',
    )
  })

  test('let no request choose where it goes', () => {
    const url = (text: string): string => `risk: { url: "${text}", answer: { flagged: /a } }`
    expect(problemOf(url('http://screener.example/'))).toBe('risk.url must be an https URL')
    expect(problemOf(url('https://10.0.0.1/'))).toBe('risk.url resolves to an address that is not allowed')
    expect(problemOf(url('https://k:s@screener.example/'))).toBe('risk.url must not contain credentials')
    expect(problemOf(url('https://${chain}.example/'))).toBe('risk.url must not have a placeholder in its host')
    expect(problemOf(url('https://a.example:${chain_id}/'))).toBe('risk.url must not have a placeholder in its host')
    expect(problemOf(url('https://a.example/${from}'))).toStartWith(
      'risk.url uses the unknown placeholder ${from}; valid placeholders: ${address}',
    )
  })

  test('say exactly what an answer looks like', () => {
    const answer = (text: string): string => `risk: { url: "https://a.example/", answer: ${text} }`
    expect(problemOf(answer('{ flagged: blocked }'))).toStartWith('risk.answer.flagged must be a JSON Pointer')
    expect(problemOf(answer('{ flagged: { at: /a~2 } }'))).toStartWith('risk.answer.flagged.at must be a JSON Pointer')
    expect(problemOf(answer('{ flagged: { at: /a, is: 1 } }'))).toBe('risk.answer.flagged.is is not a known setting')
    expect(problemOf(answer('{ flagged: { at: /a, equals: { b: 1 } } }'))).toStartWith(
      'risk.answer.flagged.equals must contain only',
    )
    expect(problemOf(answer('{ score: { at: /a, times: 0 } }'))).toStartWith('risk.answer.score.times must be')
    expect(problemOf(answer('{ score: { at: /a, optional: 1 } }'))).toBe(
      'risk.answer.score.optional must be true or false',
    )
    expect(problemOf(answer('{ verdict: /a }'))).toBe('risk.answer.verdict is not a known setting')
  })
})
