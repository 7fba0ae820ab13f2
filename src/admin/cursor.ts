// Pagination cursors: the position after a page as opaque text.
import { FieldInvalidError } from '../domain/errors.ts'
import type { Page, PagePosition, PageRequest } from '../store/paging.ts'

export const LIMIT_DEFAULT = 50

type PositionShape = readonly ('number' | 'string')[]

export const encodeCursor = (position: PagePosition): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url')

const isPart = (value: unknown, kind: 'number' | 'string' | undefined): boolean =>
  kind === 'number' ? Number.isSafeInteger(value) : typeof value === 'string' && value.length <= 200

export const decodeCursor = (text: string, shape: PositionShape): PagePosition => {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    value = null
  }
  if (
    Array.isArray(value) &&
    value.length === shape.length &&
    value.every((part, index) => isPart(part, shape[index]))
  ) {
    return value as PagePosition
  }
  throw new FieldInvalidError('cursor', 'is not the next_cursor of this list')
}

export const pageRequest = (
  query: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  shape: PositionShape,
): PageRequest => ({
  limit: query.limit ?? LIMIT_DEFAULT,
  after: query.cursor === undefined ? null : decodeCursor(query.cursor, shape),
})

export const pageAnswer = <Item, Shown>(page: Page<Item>, show: (item: Item) => Shown) => ({
  data: page.items.map(show),
  next_cursor: page.next === null ? null : encodeCursor(page.next),
})
