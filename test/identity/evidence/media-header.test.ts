// What a file is, by its bytes alone; and what is refused because it is more than one thing, or not all there.
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

describe('the header of a picture', () => {
  test('tells what it is and how large', async () => {
    expect(readMediaHeader(await jpeg(123, 45))).toEqual({ mediaType: 'image/jpeg', width: 123, height: 45 })
    expect(readMediaHeader(await jpegWithMetadata('x'.repeat(5_000)))).toMatchObject({ width: 40, height: 30 })
    expect(readMediaHeader(await png(123, 45))).toEqual({ mediaType: 'image/png', width: 123, height: 45 })
    expect(readMediaHeader(await webp(123, 45))).toEqual({ mediaType: 'image/webp', width: 123, height: 45 })
    expect(readMediaHeader(await webp(123, 45, true))).toEqual({ mediaType: 'image/webp', width: 123, height: 45 })
    for (const bytes of [pdf(), Buffer.from('%PDF-')]) {
      expect(readMediaHeader(bytes)).toEqual({ mediaType: 'application/pdf' })
    }
  })

  test('of anything else is refused: pages, scripts, archives, programs, other pictures', () => {
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

  test('of a picture with something glued to its end is refused, where nothing of the kind belongs there', async () => {
    for (const image of [await png(), await webp(), await webp(40, 30, true)]) {
      for (const more of [emptyZip(), Buffer.from('<script>'), Buffer.from([0])]) {
        expect(() => readMediaHeader(Buffer.concat([image, more]))).toThrow(DocumentInvalidError)
      }
    }
  })

  test('never throws anything but a refusal, whatever the bytes, and never takes long', async () => {
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

/** As PDF writes it (ISO 32000-2 §7.4.3). */
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
  const refusalOf = (bytes: Uint8Array, limits?: InflateLimits) =>
    checkPdf(bytes, limits).then(
      () => null,
      (error: unknown) => error,
    )
  const streamOf = (content: Uint8Array, dictionary = '/Filter /FlateDecode'): string =>
    `/A 1>>\nendobj\n4 0 obj\n<<${dictionary}/Length ${content.length}>>stream\n${Buffer.from(content).toString('latin1')}\nendstream\nendobj\n5 0 obj\n<<`

  test('is taken as it is', async () => {
    await checkPdf(pdf())
    await checkPdf(Buffer.concat([pdf(), Buffer.from('\r\n \n\0')]))
  })

  test('is refused when it is cut off or something follows it', async () => {
    for (const bytes of [
      pdf().subarray(0, 100),
      Buffer.from('%PDF-1.4'),
      Buffer.concat([pdf(), Buffer.from('<html>')]),
    ]) {
      expect(await refusalOf(bytes)).toBeInstanceOf(DocumentInvalidError)
    }
  })

  test('is refused when it is an archive as well, at its end or around it', async () => {
    expect(await refusalOf(Buffer.concat([pdf(), emptyZip()]))).toBeInstanceOf(DocumentInvalidError)
    const inside = pdf('/A 1')
    // An archive whose comment is the end of the PDF: unpackers take it for an archive.
    const tail = inside.subarray(60)
    const both = Buffer.concat([inside.subarray(0, 60), emptyZip(tail.length), tail])
    expect(await refusalOf(both)).toBeInstanceOf(DocumentInvalidError)
  })

  test('is refused when it visibly acts', async () => {
    for (const inside of [
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
    ]) {
      expect(await refusalOf(pdf(inside))).toBeInstanceOf(DocumentInvalidError)
    }
  })

  test('is refused when it hides what it does: in escaped names, in a compressed object, in two', async () => {
    const acts = Buffer.from('1 0 <</OpenAction<</S/Java#53cript/JS(app.alert(1))>>>>')
    for (const inside of [
      '/OpenAction<</S/J#61v#61Script/JS(app.alert(1))>>',
      '/OpenAction<</S/#4c#61#75#6E#63#68>>',
      streamOf(deflateSync(acts)),
      streamOf(deflateSync(deflateSync(acts)), '/Filter[/FlateDecode/FlateDecode]'),
      // Written as text, before it is inflated or after.
      streamOf(
        Buffer.from(
          `${deflateSync(acts)
            .toString('hex')
            .replaceAll(/(.{60})/g, '$1\n')}>`,
        ),
      ),
      streamOf(Buffer.from(ascii85(deflateSync(acts)))),
      streamOf(Buffer.from(`\n ${ascii85(deflateSync(acts)).replaceAll(/(.{60})/g, '$1\r\n')}`)),
      streamOf(deflateSync(Buffer.from(ascii85(deflateSync(acts))))),
      streamOf(deflateSync(Buffer.from(`${deflateSync(acts).toString('hex').toUpperCase()}>`))),
      // Written as text, and not packed at all.
      streamOf(Buffer.from(`${acts.toString('hex')}>`), '/Filter /ASCIIHexDecode'),
      streamOf(Buffer.from(ascii85(acts)), '/Filter /ASCII85Decode'),
      // Whatever the dictionary says.
      streamOf(deflateSync(acts), '/Filter /Fl#61teDecode'),
    ]) {
      expect([inside, await refusalOf(pdf(inside))]).toEqual([inside, expect.any(DocumentInvalidError)])
    }
    // Beyond the part that is searched for nested streams.
    expect(
      await refusalOf(pdf(streamOf(deflateSync(Buffer.concat([Buffer.alloc(5_000_000, 32), acts]))))),
    ).toBeInstanceOf(DocumentInvalidError)
    // A viewer undoes the predictor of an object stream.
    const [packed, plain] = [deflateSync(Buffer.from('1 0 <<>>')), '/N 1/First 4/Filter/FlateDecode']
    await checkPdf(pdf(streamOf(packed, `/Type/ObjStm${plain}`)))
    for (const dictionary of [`/Type/ObjStm${plain}/DecodeParms<</Predictor 12>>`, `/Type/XRef${plain}/D#50 7 0 R`]) {
      expect(await refusalOf(pdf(streamOf(packed, dictionary)))).toBeInstanceOf(DocumentInvalidError)
    }
    await checkPdf(pdf(streamOf(packed, '/Type/XRef/Filter/FlateDecode/DecodeParms<</Columns 4/Predictor 12>>')))
    await checkPdf(pdf('/Title(Flat #1, price #99 /EFF /XFAB)'))
    await checkPdf(pdf(streamOf(deflateSync(Buffer.from('BT (Passport) Tj ET')))))
  })

  test('is refused with advice when it is packed by LZW or run lengths, for nobody looks into it', async () => {
    const packed = Buffer.from('any bytes')
    for (const inside of [
      '/Filter /LZWDecode',
      '/Filter/LZ#57Decode',
      '/Filter [/ASCII85Decode /RunLengthDecode]',
      '/Filter /LZW',
      '/F[/A85 /RL]',
      '/Filter\n[ /RL ]',
      '/Filter\x80[\xff/A85\0/RL ]',
    ].map((dictionary) => streamOf(packed, dictionary))) {
      expect(await refusalOf(pdf(inside))).toMatchObject({ detail: expect.stringContaining('old compression') })
    }
    // The name may itself be in a packed object.
    expect(await refusalOf(pdf(streamOf(deflateSync(Buffer.from('7 0 /LZWDecode')))))).not.toBeNull()
    await checkPdf(pdf('/RLS 1 /LZWhat /F1 9 0 R /FilterLZW 1'))
  })

  test('is refused with advice when it is encrypted, for nobody can look into it', async () => {
    for (const inside of ['/Encrypt 9 0 R', '/Encr#79pt<</Filter/Standard>>']) {
      expect(await refusalOf(pdf(inside))).toMatchObject({ detail: expect.stringContaining('without a password') })
    }
    await checkPdf(pdf('/EncryptMetadata false'))
  })

  test('is refused when it expands to too much than a viewer should be given, and soon', async () => {
    const bomb = deflateSync(Buffer.alloc(200 * 1_048_576))
    expect(await refusalOf(pdf(streamOf(bomb)))).toMatchObject({
      detail: expect.stringContaining('expands to too much'),
    })
    expect(await refusalOf(pdf(streamOf(deflateSync(bomb))))).toMatchObject({
      detail: expect.stringContaining('expands to too much'),
    })
    const text = pdf(streamOf(Buffer.from(ascii85(bomb))))
    expect(await refusalOf(text)).toMatchObject({ detail: expect.stringContaining('expands to too much') })
    // Each small, all together too much.
    const part = streamOf(deflateSync(Buffer.alloc(60_000)))
    expect(await refusalOf(pdf(part.repeat(4)), { ...INFLATE_LIMITS, inflatedBytesMax: 200_000 })).not.toBeNull()
    expect(await refusalOf(pdf(part.repeat(3)), { ...INFLATE_LIMITS, inflatedBytesMax: 200_000 })).toBeNull()
    expect(await refusalOf(pdf(part), { ...INFLATE_LIMITS, processorMsMax: -1 })).not.toBeNull()
    let nested = deflateSync(Buffer.from('BT (Passport) Tj ET'))
    for (let depth = 1; depth <= 6; depth++, nested = deflateSync(nested)) {
      expect([depth, (await refusalOf(pdf(streamOf(nested)))) === null]).toEqual([depth, depth <= 4])
    }
  })

  test('is refused when its streams read more than the limit: texts inside texts, and packed data that stands for nothing', async () => {
    const limits = { ...INFLATE_LIMITS, readBytesMax: 100_000 }
    const text = '!'.repeat(8_000)
    expect(await refusalOf(pdf(`stream\n${text}`.repeat(2)), limits)).toBeNull()
    // Each word starts a text that reaches to the end of the last one.
    expect(await refusalOf(pdf(`stream\n${text}`.repeat(5)), limits)).toMatchObject({ detail: TOO_LARGE })
    // Stored blocks of no bytes (RFC 1951 §3.2.4).
    const hollow = (bytes: number) =>
      Buffer.concat([Buffer.from([0x78, 0x01]), Buffer.alloc(bytes, '\0\0\0\xff\xff', 'latin1')])
    expect(await refusalOf(pdf(streamOf(hollow(90_000))), limits)).toBeNull()
    expect(await refusalOf(pdf(streamOf(hollow(110_000))), limits)).toMatchObject({ detail: TOO_LARGE })
  })

  test('is checked in a time that grows with its length', async () => {
    for (const inside of ['/EF%'.repeat(500_000), 'stream/#41'.repeat(200_000)]) {
      const before = process.cpuUsage()
      await refusalOf(pdf(inside))
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1_000).toBeLessThan(5_000)
    }
  })

  test('is refused when it has more streams than the limit', async () => {
    const limits = { ...INFLATE_LIMITS, streamWordsMax: 10 }
    expect(await refusalOf(pdf('stream '.repeat(10)), limits)).toBeNull()
    expect(await refusalOf(pdf('stream '.repeat(11)), limits)).toMatchObject({ detail: TOO_LARGE })
  })

  test('is checked in a process, which answers with the reason', async () => {
    const checker = createPdfChecker()
    await checker.check(pdf(), 'org_a')
    await expect(checker.check(pdf('/Encrypt 9 0 R'), 'org_a')).rejects.toThrow('without a password')
    await checker.close()
    const chatty = createPdfChecker({ script: join(import.meta.dir, 'decoders', 'environment.ts') })
    await expect(chatty.check(pdf(), 'org_a')).rejects.toThrow('could not open the PDF')
    await chatty.close()
  })
})
