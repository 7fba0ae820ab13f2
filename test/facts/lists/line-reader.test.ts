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
  test('has one a line, in any case, with comments and blank lines between', () => {
    const text = `\ufeff# sanctioned\r\n${A.toUpperCase().replace('0X', '0x')}\r\n\r\n   ${B}  \n${SOLANA}`
    expect(read(text)).toEqual({
      entries: [
        [A, ''],
        [B, ''],
        [SOLANA, ''],
      ],
      bad: [],
    })
  })

  test('names bad lines by their number and goes on', () => {
    const { entries, bad } = read(`${A}\nnonsense\n\n${A.slice(0, -1)}\n${B}\n${SOLANA.toUpperCase()}\n${A} memo\n`)
    expect(entries.map(([address]) => address)).toEqual([A, B])
    expect(bad.map(({ line }) => line)).toEqual([2, 4, 6, 7])
    expect(bad[0]?.problem).toBe('not an EVM or Solana address')
  })

  test('may hold good addresses of other chains, which are left out and counted', () => {
    const others = [
      '1BitcoinEaterAddressDontSendf59kuE',
      'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
      'LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1',
    ]
    expect(read(`${others.join('\n')}\n${A}\n`)).toEqual({
      entries: [[A, '']],
      bad: [],
      skipped: ['XBT', 'XBT', 'TRX', 'other'],
    })
    // A mistyped one is a mistake.
    expect(read('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u\n').bad).toHaveLength(1)
  })

  test('is the same wherever it is cut', () => {
    const text = `${A}\r\nbad\r\n${'x'.repeat(10_000)}\n${B}\n${'y'.repeat(5_000)}`
    const whole = read(text)
    expect(whole.bad.map(({ line }) => line)).toEqual([2, 3, 5])
    for (const pieceLength of [1, 2, 7, 43, 44, 4_096, 4_097]) expect(read(text, 'text', pieceLength)).toEqual(whole)
  })
})

describe('CSV of addresses', () => {
  test('has memos, quoted where they must be, and may have a header', () => {
    const text = `Address,Memo\n${A},"said ""no"", twice"\n${B}\n"${SOLANA}" ,  plain  \n`
    expect(read(text, 'csv')).toEqual({
      entries: [
        [A, 'said "no", twice'],
        [B, ''],
        [SOLANA, 'plain'],
      ],
      bad: [],
    })
  })

  test('names what is wrong with a line', () => {
    const text = `${A},"open\n${A},a,b\n${A},"x"y\naddress,memo\n${A},${'m'.repeat(201)}\n${A},a\u202eb\n`
    expect(read(text, 'csv').bad).toEqual([
      { line: 1, problem: 'a quote is not closed' },
      { line: 2, problem: 'more than two fields' },
      { line: 3, problem: 'text follows a closing quote' },
      { line: 4, problem: 'not an EVM or Solana address' },
      { line: 5, problem: 'the memo must be at most 200 characters without control characters' },
      { line: 6, problem: 'the memo must be at most 200 characters without control characters' },
    ])
  })

  test('gives back every memo that it was written with', () => {
    const memo = fc.string({
      unit: fc.constantFrom('a', '"', ',', ' ', '=', '+', '-', '@', 'ü', "'", '#'),
      maxLength: 20,
    })
    fc.assert(
      fc.property(fc.array(memo, { maxLength: 5 }), (memos) => {
        const text = memos.map((text) => `${A},${csvField(text)}\n`).join('')
        expect(read(text, 'csv')).toEqual({ entries: memos.map((text) => [A, text]), bad: [] })
      }),
    )
  })

  test('has no memo that a spreadsheet runs', () => {
    for (const memo of ['=1+1', '+1', '-1', '@SUM(1)', '=HYPERLINK("https://evil.example","x")', "'=1"]) {
      const [cell = ''] = splitCsvLine(csvField(memo))
      expect(cell).toBe(`'${memo}`)
      expect(read(`${A},${csvField(memo)}\n`, 'csv').entries).toEqual([[A, memo]])
    }
    expect(csvField("don't = 1")).toBe("don't = 1")
  })

  test('splits into fields or says why not', () => {
    expect(splitCsvLine('')).toEqual([''])
    expect(splitCsvLine('a,')).toEqual(['a', ''])
    expect(splitCsvLine(',"",b')).toEqual(['', '', 'b'])
    expect(typeof splitCsvLine('"')).toBe('string')
  })
})
