// Lines of list files: text and CSV, bad lines, and pieces of any length.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type BadLine, createLineReader, csvField, splitCsvLine } from '../../../src/facts/lists/line-reader.ts'

const A = `0x${'a1'.repeat(20)}`
const B = `0x${'b2'.repeat(20)}`
const SOLANA = 'So11111111111111111111111111111111111111112'

const read = (text: string, format: 'text' | 'csv' = 'text', pieceLength = text.length || 1) => {
  const entries: [string, string][] = []
  const bad: BadLine[] = []
  const skipped: string[] = []
  const reader = createLineReader({
    format,
    onEntry: (address, memo) => entries.push([address, memo]),
    onBadLine: (line) => bad.push(line),
    onSkipped: (asset) => skipped.push(asset),
  })
  for (let at = 0; at < text.length; at += pieceLength) reader.write(text.slice(at, at + pieceLength))
  reader.end()
  return skipped.length === 0 ? { entries, bad } : { entries, bad, skipped }
}

describe('a text of addresses', () => {
  test('has one address per line, in any case, with comments and blank lines', () => {
    const text = `\ufeff# sanctioned\r\n${A.toUpperCase().replace('0X', '0x')}\r\n\r\n   ${B}  \n${SOLANA}`
    expect(read(text)).toEqual({ entries: [A, B, SOLANA].map((address) => [address, '']), bad: [] })
  })

  test('reports bad lines by number, and is read to the end', () => {
    const { entries, bad } = read(`${A}\nnonsense\n\n${A.slice(0, -1)}\n${B}\n${SOLANA.toUpperCase()}\n${A} memo\n`)
    expect(entries.map(([address]) => address)).toEqual([A, B])
    expect(bad.map(({ line }) => line)).toEqual([2, 4, 6, 7])
    expect(bad[0]?.problem).toBe('not an EVM or Solana address')
  })

  test('can contain valid addresses of other chains, which are counted', () => {
    const bitcoin = ['1BitcoinEaterAddressDontSendf59kuE', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq']
    const others = [...bitcoin, 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1']
    const skipped = ['XBT', 'XBT', 'TRX', 'other']
    expect(read(`${others.join('\n')}\n${A}\n`)).toEqual({ entries: [[A, '']], bad: [], skipped })
    // A mistyped address is a bad line.
    expect(read('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u\n').bad).toHaveLength(1)
  })

  test('is read the same in pieces of any length', () => {
    const text = `${A}\r\nbad\r\n${'x'.repeat(10_000)}\n${B}\n${'y'.repeat(5_000)}`
    const whole = read(text)
    expect(whole.bad.map(({ line }) => line)).toEqual([2, 3, 5])
    for (const pieceLength of [1, 2, 7, 43, 44, 4_096, 4_097]) expect(read(text, 'text', pieceLength)).toEqual(whole)
  })
})

describe('CSV of addresses', () => {
  test('can have quoted memos and a header', () => {
    const text = `Address,Memo\n${A},"said ""no"", twice"\n${B}\n"${SOLANA}" ,  plain  \n`
    const entries = Object.entries({ [A]: 'said "no", twice', [B]: '', [SOLANA]: 'plain' })
    expect(read(text, 'csv')).toEqual({ entries, bad: [] })
  })

  test('reports the problem of each line', () => {
    const memo = 'the memo must be at most 200 characters without control characters'
    const text = `${A},"open\n${A},a,b\n${A},"x"y\naddress,memo\n${A},${'m'.repeat(201)}\n${A},a\u202eb\n`
    expect(read(text, 'csv').bad).toEqual([
      { line: 1, problem: 'a quote is not closed' },
      { line: 2, problem: 'more than two fields' },
      { line: 3, problem: 'text follows a closing quote' },
      { line: 4, problem: 'not an EVM or Solana address' },
      { line: 5, problem: memo },
      { line: 6, problem: memo },
    ])
  })

  test('preserves every memo', () => {
    const unit = fc.constantFrom('a', '"', ',', ' ', '=', '+', '-', '@', 'ü', "'", '#')
    fc.assert(
      fc.property(fc.array(fc.string({ unit, maxLength: 20 }), { maxLength: 5 }), (memos) => {
        const text = memos.map((memo) => `${A},${csvField(memo)}\n`).join('')
        expect(read(text, 'csv')).toEqual({ entries: memos.map((memo) => [A, memo]), bad: [] })
      }),
    )
  })

  test.each(['=1+1', '+1', '-1', '@SUM(1)', '=HYPERLINK("https://evil.example","x")', "'=1"])(
    'escapes the memo %s, so that a spreadsheet does not run it',
    (memo) => {
      expect(splitCsvLine(csvField(memo))[0]).toBe(`'${memo}`)
      expect(read(`${A},${csvField(memo)}\n`, 'csv').entries).toEqual([[A, memo]])
    },
  )

  test('escapes no other memo', () => expect(csvField("don't = 1")).toBe("don't = 1"))

  test.each<[string, string[]]>([
    ['', ['']],
    ['a,', ['a', '']],
    [',"",b', ['', '', 'b']],
  ])('splits %p into fields', (line, fields) => expect(splitCsvLine(line)).toEqual(fields))
})
