// Object streams of PDFs: the check reads each as a viewer does, or rejects the document. The files of test/data/pdf
// are made by Chromium, fpdf2, pdf-lib, PDFKit and ReportLab.
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { checkPdf } from '../../../src/identity/evidence/pdf-check.ts'
import { UNREADABLE } from '../../../src/identity/evidence/pdf-object-streams.ts'
import { pdf } from './images.ts'

const PDFS = join(import.meta.dir, '../../data/pdf')
const PLAIN = Buffer.from('5 0 <</Title(A bill)>>')
const SCRIPT = Buffer.from('5 0 <</S/JavaScript/JS(app.alert(1))>>')
const KEYS = '/Type/ObjStm/N 1/First 4/Filter/FlateDecode'

const streamOf = (dictionary: string, data: Uint8Array, start = 'stream\n'): string =>
  `/A 1>>\nendobj\n4 0 obj\n<<${dictionary}/Length ${data.length}>>${start}${Buffer.from(data).toString('latin1')}\nendstream\nendobj\n8 0 obj\n<<`

const refusalOf = (inside: string): Promise<string | null> => refusalOfFile(pdf(inside))
const refusalOfFile = (bytes: Uint8Array): Promise<string | null> =>
  checkPdf(bytes).then(
    () => null,
    (error: { detail: string }) => error.detail,
  )

const hex = (before: string) => Buffer.from(`${before}${SCRIPT.toString('hex')}>`)

const wrongSum = (content: Buffer): Buffer => {
  const packed = deflateSync(content)
  packed[packed.length - 1]! ^= 1
  return packed
}

describe('object streams', () => {
  test.each(readdirSync(PDFS))('of an ordinary document (%s) are accepted', async (name) => {
    expect(await refusalOfFile(await Bun.file(join(PDFS, name)).bytes())).toBeNull()
  })

  // As written by Acrobat, pdfTeX, Ghostscript, cairo, iText, Word and qpdf.
  test.each([
    '/Type/ObjStm/N 1/First 4',
    '/Filter/FlateDecode/First 4/N 1/Type/ObjStm',
    '/Extends 9 0 R/Filter/FlateDecode/First 4/N 1/Type/ObjStm',
    '\n/Type /ObjStm\n/N 1\n/First 4\n/Filter /FlateDecode\n',
    '\n/Filter [/FlateDecode]\n/First 4\n/N 1\n/Type /ObjStm\n',
    ' /Length 9 0 R\n   /Type /ObjStm\n   /N 1\n   /First 4\n /Filter /FlateDecode\n',
  ])('are read (%j)', async (keys) => {
    const encode = (data: Buffer) => (keys.includes('Flate') ? deflateSync(data) : data)
    for (const start of ['stream\n', 'stream\r\n', '\r\nstream\r\n', '   \nstream\n']) {
      expect(await refusalOf(streamOf(keys, encode(PLAIN), start))).toBeNull()
      expect(await refusalOf(streamOf(keys, encode(SCRIPT), start))).toContain('scripts')
    }
  })

  test('do not affect other streams: a damaged image is accepted', async () => {
    const damaged = streamOf('/Filter/FlateDecode', wrongSum(PLAIN))
    expect(await refusalOf(streamOf(KEYS, deflateSync(PLAIN)) + damaged)).toBeNull()
  })

  const packed = deflateSync(SCRIPT)
  const predicted = '/N 1/First 4/DecodeParms 7 0 R'
  const blanks = ' '.repeat(40)
  test.each([
    ['a space after the word stream', streamOf(KEYS, packed, 'stream \n')],
    ['a carriage return alone', streamOf(KEYS, packed, 'stream\r')],
    ['a damaged checksum', streamOf(KEYS, wrongSum(SCRIPT))],
    ['a missing end', streamOf(KEYS, packed.subarray(0, -12))],
    ['data of another format', streamOf(KEYS, Buffer.from('no zlib data'))],
    ['blanks before text', streamOf('/N 1/First 4/Filter/ASCIIHexDecode', hex(' '.repeat(100)))],
    ['another character before text', streamOf('/N 1/First 4/Filter/ASCIIHexDecode', hex('~'))],
    ['another compression', streamOf('/Type/ObjStm/N 1/First 4/Filter/BrotliDecode', packed)],
    ['an image filter', streamOf('/Type/ObjStm/N 1/First 4/Filter/CCITTFaxDecode', packed)],
    ['an array of filters', streamOf('/N 1/First 4/Filter[/FlateDecode/DCTDecode]', packed)],
    ['a filter elsewhere', streamOf('/Type/ObjStm/N 1/First 4/Filter 9 0 R', packed)],
    ['a predictor', streamOf(`${KEYS}/DecodeParms<</Predictor 12>>`, packed)],
    ['a predictor and a long string', streamOf(`${KEYS}/DecodeParms 7 0 R/X(${'x'.repeat(5_000)})`, packed)],
    ['a long comment', streamOf(`/DecodeParms 7 0 R%${'x'.repeat(5_000)}\n${KEYS}`, packed)],
    ['the start of another dictionary in a comment', streamOf(`/DecodeParms 7 0 R % 9 0 obj<<\n${KEYS}`, packed)],
    ['data in another file', streamOf(`${KEYS}/F(a.bin)`, packed)],
    ['an escaped key', streamOf('/N 1/F#69rst 4/DecodeParms 7 0 R', packed)],
    ['an escaped type', streamOf('/Type/Obj#53tm/N 1/DecodeParms 7 0 R', packed)],
    ['no position of the first object', streamOf('/Type/ObjStm/N 1/DecodeParms 7 0 R', packed)],
    ['no type', streamOf('/N 1/First 4/DecodeParms 7 0 R', packed)],
    ['the key before a comment', streamOf('/N 1/First%\n4/DecodeParms 7 0 R', packed)],
    ['a number elsewhere', streamOf('/N 1/First 7 0 R/DecodeParms 7 0 R', packed)],
    ['the end of an object in a string', streamOf('/N 1/First 7 0 R/X(>>endobj(\\)))/DecodeParms 7 0 R', packed)],
    ['the end of an object in a comment', streamOf('/N 1/First 7 0 R%>>endobj\n/DecodeParms 7 0 R', packed)],
    ['the end of a dictionary in an array', streamOf('/N 1/First 4/X[>> 1]/DecodeParms 7 0 R', packed)],
    ['the end of a dictionary in no string', streamOf('/N 1/First 4/X)>>endobj/DecodeParms 7 0 R', packed)],
    ['another dictionary around them', streamOf(`/DecodeParms 7 0 R\n9 0 obj<<${KEYS}`, packed)],
    ['a missing value', streamOf('/N 1/First 4/X>>endobj/DecodeParms 7 0 R', packed)],
    ['a number in place of a name', streamOf('/N 1/First 4 1/X>>endobj/DecodeParms 7 0 R', packed)],
    ['an empty name', streamOf('/N 1/First 4/>>/DecodeParms 7 0 R', packed)],
    ['a missing name', streamOf('/N 1/First 4(x)>>endobj/X[/DecodeParms 7 0 R]', packed)],
    ['blanks before the word stream', streamOf(predicted, packed, `${blanks}stream\n`)],
    [
      'a comment before the dictionary',
      streamOf(`%/A 1>>endobj\n<<${KEYS}/DecodeParms 7 0 R`, packed).replace('obj\n<<%', 'obj\n%'),
    ],
    ['blanks before the dictionary', streamOf(predicted, packed).replace('obj\n<<', `obj${blanks}<<`)],
    ['a comment before the word stream', streamOf(predicted, packed, '%\n stream\n')],
  ])('that a viewer can read differently are refused: %s', async (_, inside) => {
    expect(await refusalOf(inside)).toBe(UNREADABLE)
  })

  // PDFium reads both bytes as blanks, other viewers do not.
  describe.each(['\x80', '\xff'])('with the byte %j between tokens are refused:', (byte) => {
    const stream = streamOf(predicted, packed)
    test.each([
      ['after the generation number', stream.replace('4 0 obj', `4 0${byte}obj`)],
      ['before the dictionary', stream.replace('4 0 obj\n', `4 0 obj${byte}`)],
      ['before the word stream', stream.replace('>>stream', `>>${byte}stream`)],
      ['after a key', streamOf(`/N 1/First${byte}4/DecodeParms 7 0 R`, packed)],
      ['in any dictionary', `/First 1>>\nendobj\n4 0 obj\n<</X${byte}1/Y>>\nendobj\n8 0 obj<<`],
    ])('%s', async (_, inside) => {
      expect(await refusalOf(inside)).toBe(UNREADABLE)
    })
  })

  test('are distinguished from outlines, which have the same key', async () => {
    for (const outlines of [
      '/First 7 0 R/Last 7 0 R/Title(A \\( bill (of (one))\\))/A<</S/GoTo/D[3 0 R/XYZ 0 9 null]>>/C[1 0 0]/X<00 ff>',
      '/First% a comment\n 7 0 R /Count -1 /O true',
    ]) {
      expect(await refusalOf(`>>endobj\n6 0 obj<<${outlines}>>\nendobj\n8 0 obj<<`)).toBeNull()
      expect(await refusalOf(`/Outlines<<${outlines}>>/B 1`)).toBeNull()
    }
    expect(await refusalOf('/FirstChar 32/Title(/First)')).toBeNull()
  })

  test('are found in time linear in the length', async () => {
    const inside = [
      `<<${'/First 1 '.repeat(500_000)}>>`,
      `/First \n1 0 obj<<${'/N 1 '.repeat(1_000_000)}`,
      `/First ${'\n1 0 obj<</N 1 '.repeat(300_000)}`,
      `/First ${'('.repeat(5_000_000)}`,
      `/First 1${'%1 0 obj<<\n/A 1'.repeat(300_000)}`,
      `>>\n/First ${'1 0 obj%'.repeat(500_000)}`,
      `/First 1${'>>\n1 0 obj<</X('.repeat(300_000)}`,
    ]
    for (const each of inside) {
      const before = process.cpuUsage()
      expect(await refusalOf(each)).toBe(UNREADABLE)
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1_000).toBeLessThan(4_000)
    }
  })
})
