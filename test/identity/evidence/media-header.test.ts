// File types by content. Files with several types, incomplete files and files with active content are refused.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { createPdfChecker } from '../../../src/identity/evidence/check-pdf.ts'
import { DocumentInvalidError, DocumentTypeError } from '../../../src/identity/evidence/errors.ts'
import { readMediaHeader } from '../../../src/identity/evidence/media-header.ts'
import { checkPdf } from '../../../src/identity/evidence/pdf-check.ts'
import { INFLATE_LIMITS, type InflateLimits, TOO_LARGE } from '../../../src/identity/evidence/pdf-streams.ts'
import { emptyZip, jpeg, jpegWithMetadata, pdf, png, webp } from './images.ts'

const EXECUTABLE = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0])

describe('the header of an image', () => {
  test('has the type and the size', async () => {
    for (const [image, mediaType] of [
      [await jpeg(123, 45), 'image/jpeg'],
      [await png(123, 45), 'image/png'],
      [await webp(123, 45), 'image/webp'],
      [await webp(123, 45, true), 'image/webp'],
    ] as const) {
      expect(readMediaHeader(image)).toEqual({ mediaType, width: 123, height: 45 })
    }
    expect(readMediaHeader(await jpegWithMetadata('x'.repeat(5_000)))).toMatchObject({ width: 40, height: 30 })
    for (const bytes of [pdf(), Buffer.from('%PDF-')]) {
      expect(readMediaHeader(bytes)).toEqual({ mediaType: 'application/pdf' })
    }
  })

  test('of another file type is refused', () => {
    const others = [
      '<!doctype html><script>alert(1)</script>',
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'GIF89a',
      'BM',
      '#!/bin/sh',
      'II*\0',
      'x',
      '\n%PDF-1.4',
      ' \u00ff\u00d8',
      '%!PS-Adobe',
    ].map((text) => Buffer.from(text))
    for (const bytes of [...others, emptyZip(), EXECUTABLE, Buffer.alloc(0), Buffer.alloc(100)]) {
      expect(() => readMediaHeader(bytes)).toThrow(DocumentTypeError)
    }
  })

  test('of a HEIC image is refused with advice', () => {
    const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')
    expect(() => readMediaHeader(heic)).toThrow('HEIC and AVIF images are not supported: send a JPEG')
  })

  test('of a PNG or WebP with trailing bytes is refused', async () => {
    for (const image of [await png(), await webp(), await webp(40, 30, true)]) {
      for (const more of [emptyZip(), Buffer.from('<script>'), Buffer.from([0])]) {
        expect(() => readMediaHeader(Buffer.concat([image, more]))).toThrow(DocumentInvalidError)
      }
    }
  })

  test('never causes another error, for any bytes', async () => {
    const starts = [await jpeg(), await png(), await webp(), await webp(9, 9, true)]
    fc.assert(
      fc.property(
        fc.constantFrom(...starts),
        fc.nat(600),
        fc.uint8Array({ maxLength: 60 }),
        fc.nat(200),
        (image, cutAt, noise, at) => {
          const bytes = Buffer.from(image.subarray(0, cutAt))
          bytes.set(noise.subarray(0, Math.max(0, bytes.length - at)), Math.min(at, bytes.length))
          try {
            readMediaHeader(bytes)
          } catch (error) {
            expect(error instanceof DocumentInvalidError || error instanceof DocumentTypeError).toBe(true)
          }
        },
      ),
      { numRuns: 1_000 },
    )
  })
})

/** Encodes as PDF does (ISO 32000-2 §7.4.3). */
const ascii85 = (bytes: Buffer): string => {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4) {
    const group = bytes.subarray(at, at + 4)
    let value = Buffer.concat([group, Buffer.alloc(4 - group.length)]).readUInt32BE()
    let characters = ''
    for (let index = 0; index < 5; index++) {
      characters = String.fromCharCode(0x21 + (value % 85)) + characters
      value = Math.floor(value / 85)
    }
    text += group.length === 4 && characters === '!!!!!' ? 'z' : characters.slice(0, group.length + 1)
  }
  return `${text}~>`
}

describe('a PDF', () => {
  const refusalOf = (bytes: Uint8Array, limits?: InflateLimits): Promise<{ detail: string } | null> =>
    checkPdf(bytes, limits).then(
      () => null,
      (error) => error,
    )
  const streamOf = (content: Uint8Array | string, dictionary = '/Filter /FlateDecode'): string =>
    `/A 1>>\nendobj\n4 0 obj\n<<${dictionary}/Length ${content.length}>>stream\n${Buffer.from(content).toString('latin1')}\nendstream\nendobj\n5 0 obj\n<<`
  const expectRefused = async (bytes: Uint8Array): Promise<void> =>
    expect([`${bytes}`.slice(0, 200), await refusalOf(bytes)]).toEqual([
      expect.any(String),
      expect.any(DocumentInvalidError),
    ])
  const expectRefusedFor = async (detail: string, bytes: Uint8Array, limits?: InflateLimits): Promise<void> =>
    expect(await refusalOf(bytes, limits)).toMatchObject({ detail })

  test('is accepted, even with trailing blanks', async () => {
    await checkPdf(pdf())
    await checkPdf(Buffer.concat([pdf(), Buffer.from('\r\n \n\0')]))
  })

  test('that is truncated, has trailing bytes or is also an archive is refused', async () => {
    const inside = pdf('/A 1')
    // An archive whose comment is the end of the PDF.
    const tail = inside.subarray(60)
    for (const bytes of [
      pdf().subarray(0, 100),
      Buffer.from('%PDF-1.4'),
      Buffer.concat([pdf(), Buffer.from('<html>')]),
      Buffer.concat([pdf(), emptyZip()]),
      Buffer.concat([inside.subarray(0, 60), emptyZip(tail.length), tail]),
    ]) {
      await expectRefused(bytes)
    }
  })

  test.each(
    [
      '/OpenAction<</S/JavaScript/JS(app.alert(1))>>',
      '/AA<</O<</S/Launch>>>>',
      '/Names<</EmbeddedFiles 9 0 R>>',
      '/RichMediaContent 1 0 R',
      '/Annots[<</Subtype/FileAttachment>>]',
      '/EF<</F 9 0 R>>',
      '/EF % a comment\n 9 0 R',
      '/AcroForm<</XFA 8 0 R>>',
      '/Type/3D/Subtype/U3D/OnInstantiate 8 0 R',
      `/XFA${' '.repeat(33)}8 0 R`,
      `/XFA%${'a comment'.repeat(20)}\n8 0 R`,
      '/XFA %a\n%b\n[(template) 8 0 R]',
      '/XFA +8 0 R',
      '/XFA 8%\n0 R',
      '/XFA\x80[(template) 8 0 R]',
      '/XFA 8\xff0 R',
      '/EF\x808 0 R',
      '/EF\xff<</F 9 0 R>>',
      '/XFA 00000000008 0 R',
      '/OpenAction<</S/Rendition/JS(app.alert(1))>>',
    ].map((inside) => [inside]),
  )('with active content or attachments is refused: %j', (inside) => expectRefused(pdf(inside)))

  test('with hidden active content is refused: in escaped names, or in one or two compressed objects', async () => {
    const acts = Buffer.from('1 0 <</OpenAction<</S/Java#53cript/JS(app.alert(1))>>>>')
    const packedActs = deflateSync(acts)
    const hex = packedActs.toString('hex')
    for (const inside of [
      '/OpenAction<</S/J#61v#61Script/JS(app.alert(1))>>',
      '/OpenAction<</S/#4c#61#75#6E#63#68>>',
      streamOf(packedActs),
      streamOf(deflateSync(packedActs), '/Filter[/FlateDecode/FlateDecode]'),
      // Encoded as text, before or after the compression.
      streamOf(`${hex.replaceAll(/(.{60})/g, '$1\n')}>`),
      streamOf(ascii85(packedActs)),
      streamOf(`\n ${ascii85(packedActs).replaceAll(/(.{60})/g, '$1\r\n')}`),
      streamOf(deflateSync(ascii85(packedActs))),
      streamOf(deflateSync(`${hex.toUpperCase()}>`)),
      // Encoded as text, without compression.
      streamOf(`${acts.toString('hex')}>`, '/Filter /ASCIIHexDecode'),
      streamOf(ascii85(acts), '/Filter /ASCII85Decode'),
      // The dictionary is not trusted.
      streamOf(packedActs, '/Filter /Fl#61teDecode'),
      // Beyond the part that is searched for nested streams.
      streamOf(deflateSync(Buffer.concat([Buffer.alloc(5_000_000, 32), acts]))),
    ]) {
      await expectRefused(pdf(inside))
    }
    // Viewers apply the predictor of an object stream.
    const [packed, plain] = [deflateSync(Buffer.from('1 0 <<>>')), '/N 1/First 4/Filter/FlateDecode']
    await checkPdf(pdf(streamOf(packed, `/Type/ObjStm${plain}`)))
    for (const dictionary of [`/Type/ObjStm${plain}/DecodeParms<</Predictor 12>>`, `/Type/XRef${plain}/D#50 7 0 R`]) {
      await expectRefused(pdf(streamOf(packed, dictionary)))
    }
    await checkPdf(pdf(streamOf(packed, '/Type/XRef/Filter/FlateDecode/DecodeParms<</Columns 4/Predictor 12>>')))
    await checkPdf(pdf('/Title(Flat #1, price #99 /EFF /XFAB)'))
    await checkPdf(pdf(streamOf(deflateSync(Buffer.from('BT (Passport) Tj ET')))))
  })

  test('with LZW or run-length compression is refused with advice, because it cannot be checked', async () => {
    for (const dictionary of [
      '/Filter /LZWDecode',
      '/Filter/LZ#57Decode',
      '/Filter [/ASCII85Decode /RunLengthDecode]',
      '/Filter /LZW',
      '/F[/A85 /RL]',
      '/Filter\n[ /RL ]',
      '/Filter\x80[\xff/A85\0/RL ]',
    ]) {
      await expectRefusedFor(expect.stringContaining('old compression'), pdf(streamOf('any bytes', dictionary)))
    }
    // The name can be in a compressed object.
    expect(await refusalOf(pdf(streamOf(deflateSync('7 0 /LZWDecode'))))).not.toBeNull()
    await checkPdf(pdf('/RLS 1 /LZWhat /F1 9 0 R /FilterLZW 1'))
  })

  test('that is encrypted is refused with advice', async () => {
    for (const inside of ['/Encrypt 9 0 R', '/Encr#79pt<</Filter/Standard>>']) {
      await expectRefusedFor(expect.stringContaining('without a password'), pdf(inside))
    }
    await checkPdf(pdf('/EncryptMetadata false'))
  })

  test('that expands to too many bytes is refused', async () => {
    const bomb = deflateSync(Buffer.alloc(200 * 1_048_576))
    for (const content of [bomb, deflateSync(bomb), ascii85(bomb)]) {
      await expectRefusedFor(expect.stringContaining('expands to too much'), pdf(streamOf(content)))
    }
    // Small streams that are too large together.
    const part = streamOf(deflateSync(Buffer.alloc(60_000)))
    expect(await refusalOf(pdf(part.repeat(4)), { ...INFLATE_LIMITS, inflatedBytesMax: 200_000 })).not.toBeNull()
    expect(await refusalOf(pdf(part.repeat(3)), { ...INFLATE_LIMITS, inflatedBytesMax: 200_000 })).toBeNull()
    expect(await refusalOf(pdf(part), { ...INFLATE_LIMITS, processorMsMax: -1 })).not.toBeNull()
    let nested = deflateSync(Buffer.from('BT (Passport) Tj ET'))
    for (let depth = 1; depth <= 6; depth++, nested = deflateSync(nested)) {
      expect([depth, (await refusalOf(pdf(streamOf(nested)))) === null]).toEqual([depth, depth <= 4])
    }
  })

  test('whose streams read more than the limit is refused: overlapping texts, and empty blocks', async () => {
    const limits = { ...INFLATE_LIMITS, readBytesMax: 100_000 }
    const text = '!'.repeat(8_000)
    expect(await refusalOf(pdf(`stream\n${text}`.repeat(2)), limits)).toBeNull()
    // Each word starts a text that ends where the last text ends.
    await expectRefusedFor(TOO_LARGE, pdf(`stream\n${text}`.repeat(5)), limits)
    // Stored blocks of length zero (RFC 1951 §3.2.4).
    const hollow = (bytes: number) =>
      Buffer.concat([Buffer.from([0x78, 0x01]), Buffer.alloc(bytes, '\0\0\0\xff\xff', 'latin1')])
    expect(await refusalOf(pdf(streamOf(hollow(90_000))), limits)).toBeNull()
    await expectRefusedFor(TOO_LARGE, pdf(streamOf(hollow(110_000))), limits)
  })

  test('is checked in time linear in its length', async () => {
    for (const inside of ['/EF%'.repeat(500_000), 'stream/#41'.repeat(200_000)]) {
      const before = process.cpuUsage()
      await refusalOf(pdf(inside))
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1_000).toBeLessThan(5_000)
    }
  })

  test('with more streams than the limit is refused', async () => {
    const limits = { ...INFLATE_LIMITS, streamWordsMax: 10 }
    expect(await refusalOf(pdf('stream '.repeat(10)), limits)).toBeNull()
    await expectRefusedFor(TOO_LARGE, pdf('stream '.repeat(11)), limits)
  })

  test('is checked in a process that reports the reason', async () => {
    const checker = createPdfChecker()
    await checker.check(pdf(), 'org_a')
    await expect(checker.check(pdf('/Encrypt 9 0 R'), 'org_a')).rejects.toThrow('without a password')
    await checker.close()
    const chatty = createPdfChecker({ script: join(import.meta.dir, 'decoders', 'environment.ts') })
    await expect(chatty.check(pdf(), 'org_a')).rejects.toThrow('could not open the PDF')
    await chatty.close()
  })
})
