// Pictures of invented documents, and pictures of nothing: what is read, and what is said of the rest. The three documents
// of test/data/zones were drawn by specimen.ts; test/long/read-zones.ts reads hundreds of them.
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import { createDocumentProcess } from '../../src/identity/evidence/document-process.ts'
import { DocumentInvalidError } from '../../src/identity/evidence/errors.ts'
import { HASHED_SIDE, portraitHash } from '../../src/modules/documents/portrait-hash.ts'
import type { GrayPicture } from '../../src/zone-reader/picture/ink.ts'
import { readZone } from '../../src/zone-reader/picture/read-zone.ts'
import { encodeZone, type ZoneContent } from './encode-zone.ts'
import { randomOf } from './specimen.ts'

const ZONES = join(import.meta.dir, '../data/zones')
const NOW = Date.UTC(2026, 10, 23) / 1000
const ERIKSSON: ZoneContent = {
  format: 'TD3',
  type: 'P',
  issuer: 'UTO',
  nationality: 'UTO',
  number: 'L898902C3',
  surname: 'ERIKSSON',
  givenNames: 'ANNA MARIA',
  birthDate: '740812',
  expiryDate: '340415',
  sex: 'F',
  optional: 'ZE184226B',
}
const PASSPORT = encodeZone(ERIKSSON)
const CARD = encodeZone({
  ...ERIKSSON,
  format: 'TD1',
  type: 'ID',
  issuer: 'D<<',
  nationality: 'D<<',
  number: 'T220001293',
  surname: 'MUSTERMANN',
  givenNames: 'ERIKA',
  optional: '',
})

const pictureOf = (name: string): Sharp => sharp(join(ZONES, `${name}.jpg`))

const grayOf = async (picture: Sharp): Promise<GrayPicture> => {
  const { data, info } = await picture.greyscale().raw().toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, pixels: data }
}

const linesOf = async (picture: Sharp): Promise<readonly string[] | string> => {
  const reading = readZone(await grayOf(picture), NOW)
  return reading.kind === 'read' ? reading.decoded.lines : reading.kind
}

describe('a zone is read', () => {
  test.each([0, 90, 180, 270])('from a picture that was held at %i degrees', async (degrees) => {
    expect(await linesOf(pictureOf('passport').rotate(degrees))).toEqual(PASSPORT)
    expect(await linesOf(pictureOf('card').rotate(degrees))).toEqual(CARD)
  })

  test('from a dark picture, and from one with little contrast', async () => {
    expect(await linesOf(pictureOf('passport').linear(0.4, 0))).toEqual(PASSPORT)
    expect(await linesOf(pictureOf('passport').linear(0.4, 130))).toEqual(PASSPORT)
  })

  test('where a row is hidden in part, or too blurred, not at all', async () => {
    const { width, height } = await pictureOf('passport').metadata()
    const thumb = Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><circle cx="600" cy="745" r="60" fill="#caa"/></svg>`,
    )
    const hidden = sharp(
      await pictureOf('passport')
        .composite([{ input: thumb }])
        .toBuffer(),
    )
    expect(await linesOf(hidden)).toBeOneOf(['doubtful', 'none'])
    for (const blur of [4, 6, 9])
      expect(await linesOf(pictureOf('passport').blur(blur))).toBeOneOf([PASSPORT, 'doubtful', 'none'])
  })

  test('from a picture of a screen, or not at all, and never wrongly', async () => {
    const { width, height, pixels } = await grayOf(pictureOf('passport'))
    for (const pitch of [3, 5, 8]) {
      // Dark lines between the dots of a screen, seen a little from the side.
      const isBetween = (x: number, y: number): boolean =>
        Math.floor(x + y * 0.03) % pitch === 0 || Math.floor(y + x * 0.03) % pitch === 0
      const seen = pixels.map((value, at) => (isBetween(at % width, Math.floor(at / width)) ? value / 2 : value))
      const reading = readZone({ width, height, pixels: seen }, NOW)
      expect(reading.kind === 'read' ? reading.decoded.lines : reading.kind).toBeOneOf([PASSPORT, 'doubtful', 'none'])
    }
  })

  test('not where the edge of a dark area makes a 0 of a U, which check digits do not tell apart', async () => {
    expect(await linesOf(pictureOf('edge'))).toBe('doubtful')
  })

  test('not where there is none', async () => {
    const random = randomOf(1)
    const noise = { width: 1_000, height: 700, pixels: Uint8Array.from({ length: 700_000 }, () => random() * 256) }
    const plain = { width: 1_000, height: 700, pixels: new Uint8Array(700_000).fill(128) }
    // Bars and dots at one pitch, as a screen or a fabric has them.
    const weave = {
      ...plain,
      pixels: plain.pixels.map((_, at) => ((at % 1_000) % 20 < 8 && Math.floor(at / 1_000) % 50 < 16 ? 30 : 220)),
    }
    const tiny = { width: 1, height: 1, pixels: new Uint8Array(1) }
    for (const picture of [noise, plain, weave, tiny])
      expect(readZone(picture, NOW).kind).toBeOneOf(['none', 'doubtful'])
  })
})

describe('the process', () => {
  const process = createDocumentProcess({
    script: join(import.meta.dir, '../../src/modules/documents/worker/read-picture.process.ts'),
    programArguments: ['zone'],
  })
  afterAll(() => process.close())

  test('answers with what it read', async () => {
    const answer = JSON.parse(Buffer.from(await process.run(await pictureOf('passport').toBuffer(), '')).toString())
    expect(answer.reading.decoded).toMatchObject({
      lines: PASSPORT,
      zone: { surname: 'ERIKSSON', birthDate: '1974-08-12' },
    })
    expect(process.running()).toBe(0)
  })

  test('enlarges a small picture whose letters touch', async () => {
    const small = pictureOf('passport').resize({ width: 380 })
    expect(await linesOf(small.clone())).toBe('none')
    const answer = JSON.parse(Buffer.from(await process.run(await small.toBuffer(), 'org_a')).toString())
    expect(answer.reading.decoded?.lines).toEqual(PASSPORT)
  })

  test('refuses what is no picture, and what this service does not store', async () => {
    await expect(process.run(Buffer.from('no picture'), '')).rejects.toBeInstanceOf(DocumentInvalidError)
    await expect(process.run(await pictureOf('card').png().toBuffer(), '')).rejects.toBeInstanceOf(DocumentInvalidError)
  })
})

test('a portrait is known again in another size and light, and another portrait is not', async () => {
  const faceOf = (seed: number): Sharp => {
    const random = randomOf(seed)
    const spots = Array.from({ length: 12 }, () => {
      const gray = Math.floor(random() * 255)
      return `<ellipse cx="${random() * 400}" cy="${random() * 500}" rx="${20 + random() * 90}" ry="${20 + random() * 90}" fill="rgb(${gray},${gray},${gray})"/>`
    })
    return sharp(
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="400" height="500">${spots.join('')}</svg>`),
    ).flatten({ background: '#bbb' })
  }
  const hashOf = async (picture: Sharp): Promise<bigint> => {
    const size = { width: HASHED_SIDE, height: HASHED_SIDE, fit: 'fill' } as const
    const jpeg = await picture.jpeg({ quality: 60 }).toBuffer()
    return BigInt(`0x${portraitHash(await sharp(jpeg).resize(size).greyscale().raw().toBuffer())}`)
  }
  const apart = (one: bigint, other: bigint): number => (one ^ other).toString(2).replaceAll('0', '').length
  const hashes = await Promise.all([1, 2, 3, 4, 5].map((seed) => hashOf(faceOf(seed))))
  for (const [index, hash] of hashes.entries()) {
    const png = await faceOf(index + 1)
      .png()
      .toBuffer()
    for (const other of [sharp(png).resize(250), sharp(png).linear(0.8, 20), sharp(png).blur(2)]) {
      expect(apart(hash, await hashOf(other))).toBeLessThanOrEqual(5)
    }
    for (const other of hashes) if (other !== hash) expect(apart(hash, other)).toBeGreaterThan(10)
  }
})
