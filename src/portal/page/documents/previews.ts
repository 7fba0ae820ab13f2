// Thumbnails of uploaded documents, kept only by this page: the server never returns a document to a browser.
const previews = new Map<string, string>()

export const previewOf = (documentId: string): string | null => previews.get(documentId) ?? null

export const keepPreview = (documentId: string, picture: Blob): void => {
  if (picture.type.startsWith('image/')) previews.set(documentId, URL.createObjectURL(picture))
}

export const dropPreview = (documentId: string): void => {
  const url = previews.get(documentId)
  if (url !== undefined) URL.revokeObjectURL(url)
  previews.delete(documentId)
}
