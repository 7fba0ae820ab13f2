// Generated images and documents. The service loads sharp only in the decoder process.
import sharp from 'sharp'

export const jpeg = (width = 40, height = 30): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 60 } } })
    .jpeg()
    .toBuffer()

export const png = (width = 40, height = 30): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 4, background: { r: 0, g: 90, b: 60, alpha: 0.5 } } })
    .png()
    .toBuffer()

export const webp = (width = 40, height = 30, lossless = false): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: { r: 20, g: 130, b: 60 } } })
    .webp({ lossless })
    .toBuffer()

/** A JPEG with a name and an orientation in its metadata. */
export const jpegWithMetadata = (text: string): Promise<Buffer> =>
  sharp({ create: { width: 40, height: 30, channels: 3, background: '#808080' } })
    .withMetadata({ orientation: 6, exif: { IFD0: { Artist: text, Copyright: text } } })
    .jpeg()
    .toBuffer()

export const describeImage = async (bytes: Uint8Array) => {
  const { format, width, height, exif, orientation } = await sharp(bytes).metadata()
  return { format, width, height, exif, orientation }
}

/** A PDF with one empty page. */
export const pdf = (inside = ''): Buffer =>
  Buffer.from(
    `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R ${inside}>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n` +
      '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF\n',
    'latin1',
  )

/** A ZIP archive without files: only the end-of-directory record. */
export const emptyZip = (commentLength = 0): Buffer => {
  const end = Buffer.alloc(22)
  end.set([0x50, 0x4b, 0x05, 0x06])
  end.writeUInt16LE(commentLength, 20)
  return end
}

export const streamOf = (bytes: Uint8Array, size = 16_384): ReadableStream<Uint8Array> => {
  let at = 0
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
    },
  })
}
