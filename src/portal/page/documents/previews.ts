// Small pictures of what was just sent, kept by this page alone: the server never gives a document back to a browser.
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
