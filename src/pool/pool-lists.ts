// Sends lists to the workers: every change to all of them, and all lists to a worker that has just started, before it
// gets a job. The addresses themselves are in shared memory; a message says only where they are.
import type { ListImage } from '../domain/list-image.ts'
import type { WorkerHandle } from './worker-handle.ts'

export interface PoolLists {
  update(images: readonly ListImage[], removedIds: readonly string[]): void
  /** Call when a worker became live. */
  join(handle: WorkerHandle): void
}

export const createPoolLists = (handles: readonly WorkerHandle[]): PoolLists => {
  const current = new Map<string, ListImage>()
  return {
    update: (images, removedIds) => {
      for (const id of removedIds) current.delete(id)
      for (const image of images) current.set(image.id, image)
      for (const handle of handles) {
        // A worker that is starting gets all lists once it is live.
        if (handle.state !== 'live' && handle.state !== 'draining') continue
        handle.control({ type: 'lists', images, removedIds })
      }
    },
    join: (handle) => {
      if (current.size > 0) handle.control({ type: 'lists', images: [...current.values()], removedIds: [] })
    },
  }
}
