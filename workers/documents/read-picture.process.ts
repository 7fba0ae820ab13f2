// A process of its own that looks at one picture of a person's evidence, given on its standard input: `zone` reads a
// document's machine-readable zone, `portrait` hashes what the picture looks like. It answers as JSON and ends, so that
// no memory stays taken. Started with nothing in its environment; exit codes: 0 answered, 3 no picture that can be opened.
import sharp from 'sharp'
import { HASHED_SIDE, portraitHash } from '../../src/documents/portrait-hash.ts'
import { readZone, type ZoneReading } from '../../src/documents/reader/read-zone.ts'

export type PictureAnswer = { readonly reading: ZoneReading } | { readonly hash: string }

const REFUSED = 3
const PIXELS_MAX = 40_000_000
/** Longest sides in which a zone is looked for: a smaller picture has less noise, a larger one finer letters. */
const SIDES = [2_400, 1_400]

sharp.cache(false)
sharp.concurrency(1)
// What is stored was written by this service, as a JPEG.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer'] })

const open = (input: Uint8Array) => sharp(input, { limitInputPixels: PIXELS_MAX, failOn: 'error' })

const zone = async (input: Uint8Array): Promise<ZoneReading> => {
  let reading: ZoneReading = { kind: 'none' }
  for (const side of SIDES) {
    const { data, info } = await open(input)
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .greyscale()
      .raw()
      .toBuffer({ resolveWithObject: true })
    const found = readZone({ width: info.width, height: info.height, pixels: data }, Math.floor(Date.now() / 1000))
    if (found.kind === 'read') return found
    if (found.kind === 'doubtful') reading = found
  }
  return reading
}

const hash = async (input: Uint8Array): Promise<string> => {
  const size = { width: HASHED_SIDE, height: HASHED_SIDE, fit: 'fill' } as const
  return portraitHash(await open(input).resize(size).greyscale().raw().toBuffer())
}

try {
  const input = await Bun.stdin.bytes()
  const answer: PictureAnswer =
    process.argv.at(-1) === 'portrait' ? { hash: await hash(input) } : { reading: await zone(input) }
  await Bun.write(Bun.stdout, JSON.stringify(answer))
} catch {
  // What the decoder says may hold some of the file. That it could not is all there is to say.
  process.exitCode = REFUSED
}
