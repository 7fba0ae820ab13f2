// The lists of a worker's policies, in shared memory filled by the main thread. A name refers to the organization's own
// list if there is one, otherwise the shared list.
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import { type ListImage, type ListMembers, listAgeSeconds, openListImage } from '../../src/domain/list-image.ts'
import type { ListReader, ListReaders } from '../../src/policy/types/facts.ts'

export interface Lists extends ListReaders {
  /** Replaces earlier versions of the same lists and drops the removed lists. */
  update(images: readonly ListImage[], removedIds: readonly string[]): void
}

interface LoadedList {
  readonly image: ListImage
  /** Opened on first use: in a large deployment, most lists are idle. */
  members: ListMembers | null
}

type Names = Map<string, LoadedList>

/** @throws DependencyUnavailableError from a reader if a list has changed and the change could not be read */
export const createLists = (clock: { unixMs(): number }): Lists => {
  const byId = new Map<string, LoadedList>()
  const shared: Names = new Map()
  const owned = new Map<string, Names>()
  const readers = new Map<string, ListReader>()

  const readerOf = (organizationId: string): ListReader => {
    const find = (name: string): LoadedList | undefined => {
      const held = owned.get(organizationId)?.get(name) ?? shared.get(name)
      if (held?.image.current === false) throw new DependencyUnavailableError('a list cannot be read')
      return held
    }
    return {
      contains: (name, address) => {
        const held = find(name)
        if (held === undefined) return false
        held.members ??= openListImage(held.image)
        return held.members.has(address)
      },
      ageSeconds: (name) => {
        const image = find(name)?.image
        return image === undefined ? null : listAgeSeconds(image, Math.floor(clock.unixMs() / 1000))
      },
    }
  }

  const forget = (id: string): void => {
    const held = byId.get(id)
    if (held === undefined) return
    byId.delete(id)
    const { organizationId, name } = held.image
    const names = organizationId === null ? shared : owned.get(organizationId)
    // A new list may already have taken the name.
    if (names?.get(name) === held) names.delete(name)
    if (organizationId !== null && names?.size === 0) owned.delete(organizationId)
  }

  const hold = (image: ListImage): void => {
    const held: LoadedList = { image, members: null }
    byId.set(image.id, held)
    if (image.organizationId === null) {
      shared.set(image.name, held)
      return
    }
    const names: Names = owned.get(image.organizationId) ?? new Map()
    names.set(image.name, held)
    owned.set(image.organizationId, names)
    if (!readers.has(image.organizationId)) readers.set(image.organizationId, readerOf(image.organizationId))
  }

  /** No organization has an empty id. */
  const sharedOnly = readerOf('')
  return {
    of: (organizationId) => readers.get(organizationId) ?? sharedOnly,
    update: (images, removedIds) => {
      for (const id of removedIds) forget(id)
      for (const image of images) {
        forget(image.id)
        hold(image)
      }
      for (const organizationId of readers.keys()) if (!owned.has(organizationId)) readers.delete(organizationId)
    },
  }
}
