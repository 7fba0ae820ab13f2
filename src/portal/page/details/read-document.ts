// Reads the machine-readable zone of a picture on this device. Loaded when the first picture is chosen, because the
// reader and its weights are large.
import { readZone } from '../../../modules/documents/reader/read-zone.ts'
import type { Draft } from './draft.ts'

/** Longest side of the picture, pixels, at each try, as on the server. */
const SIDES = [2_400, 1_400]

const grayOf = (bitmap: ImageBitmap, side: number) => {
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (context === null) return null
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
  const pixels = new Uint8Array(canvas.width * canvas.height)
  // Rec. 709.
  for (let at = 0; at < pixels.length; at++) {
    pixels[at] = 0.2126 * data[at * 4]! + 0.7152 * data[at * 4 + 1]! + 0.0722 * data[at * 4 + 2]!
  }
  return { width: canvas.width, height: canvas.height, pixels }
}

const inWords = (name: string): string => name.toLowerCase().replace(/(^| )[a-z]/g, (letters) => letters.toUpperCase())

/** The fields that the document shows, for the person to correct; null when the zone can't be read. */
export const readDocument = async (file: Blob): Promise<Partial<Draft> | null> => {
  const bitmap = await createImageBitmap(file, { imageOrientation: 'from-image' })
  try {
    for (const side of SIDES) {
      const picture = grayOf(bitmap, side)
      if (picture === null) return null
      const reading = readZone(picture, Math.floor(Date.now() / 1000))
      if (reading.kind !== 'read') continue
      const { givenNames, surname, birthDate } = reading.decoded.zone
      const [year = '', month = '', day = ''] = (birthDate ?? '').split('-')
      return {
        fullName: inWords(`${givenNames} ${surname}`.trim()),
        ...(birthDate === null ? {} : { year, month: String(Number(month)), day: String(Number(day)) }),
      }
    }
    return null
  } finally {
    bitmap.close()
  }
}
