// What a file is, by its bytes alone; and what is refused because it is more than one thing, or not all there.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DocumentInvalidError, DocumentTypeError } from '../../../src/identity/evidence/errors.ts'
import { readMediaHeader } from '../../../src/identity/evidence/media-header.ts'
import { checkPdf } from '../../../src/identity/evidence/pdf-check.ts'
import { emptyZip, jpeg, jpegWithMetadata, pdf, png, webp } from './images.ts'

const EXECUTABLE = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0])

describe('the header of a picture', () => {
  test('tells what it is and how large', async () => {
    expect(readMediaHeader(await jpeg(123, 45))).toEqual({ mediaType: 'image/jpeg', width: 123, height: 45 })
    expect(readMediaHeader(await jpegWithMetadata('x'.repeat(5_000)))).toMatchObject({ width: 40, height: 30 })
    expect(readMediaHeader(await png(123, 45))).toEqual({ mediaType: 'image/png', width: 123, height: 45 })
    expect(readMediaHeader(await webp(123, 45))).toEqual({ mediaType: 'image/webp', width: 123, height: 45 })
    expect(readMediaHeader(await webp(123, 45, true))).toEqual({ mediaType: 'image/webp', width: 123, height: 45 })
    expect(readMediaHeader(pdf())).toEqual({ mediaType: 'application/pdf' })
  })

  test('of anything else is refused: pages, scripts, archives, programs, other pictures', () => {
    const others = [
      ...['<!doctype html><script>alert(1)</script>', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'GIF89a', 'BM'],
      ...['#!/bin/sh', 'II*\0', 'x', '\n%PDF-1.4', ' \u00ff\u00d8', '%!PS-Adobe'],
    ].map((text) => Buffer.from(text))
    for (const bytes of [...others, emptyZip(), EXECUTABLE, Buffer.alloc(0), Buffer.alloc(100)]) {
      expect(() => readMediaHeader(bytes)).toThrow(DocumentTypeError)
    }
  })

  test('of a HEIC image is refused with advice', () => {
    const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')
    expect(() => readMediaHeader(heic)).toThrow('HEIC and AVIF images are not taken: send a JPEG')
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

describe('a PDF', () => {
  test('is taken as it is', () => {
    expect(() => checkPdf(pdf())).not.toThrow()
    expect(() => checkPdf(Buffer.concat([pdf(), Buffer.from('\r\n \n\0')]))).not.toThrow()
  })

  test('is refused when it is cut off or something follows it', () => {
    for (const bytes of [
      pdf().subarray(0, 100),
      Buffer.from('%PDF-1.4'),
      Buffer.concat([pdf(), Buffer.from('<html>')]),
    ]) {
      expect(() => checkPdf(bytes)).toThrow(DocumentInvalidError)
    }
  })

  test('is refused when it is an archive as well, at its end or around it', () => {
    expect(() => checkPdf(Buffer.concat([pdf(), emptyZip()]))).toThrow(DocumentInvalidError)
    const inside = pdf('/A 1')
    // An archive whose comment is the end of the PDF: unpackers take it for an archive.
    const tail = inside.subarray(60)
    expect(() => checkPdf(Buffer.concat([inside.subarray(0, 60), emptyZip(tail.length), tail]))).toThrow(
      DocumentInvalidError,
    )
  })

  test('is refused when it visibly acts', () => {
    for (const inside of [
      '/OpenAction<</S/JavaScript/JS(app.alert(1))>>',
      '/AA<</O<</S/Launch>>>>',
      '/Names<</EmbeddedFiles 9 0 R>>',
      '/RichMediaContent 1 0 R',
    ]) {
      expect(() => checkPdf(pdf(inside))).toThrow(DocumentInvalidError)
    }
  })
})
