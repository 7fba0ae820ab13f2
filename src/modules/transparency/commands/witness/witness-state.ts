// Files of a witness. A head is on disk before its cosignature is returned, so that a restarted witness never signs
// another history.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailedError } from '../../../../command-line/output.ts'
import { makeKeyFile, readKeyFile } from '../../../../setup/key-file.ts'
import { createEd25519Signer } from '../../../../signing/ed25519.ts'
import { writePrivateFile } from '../../../../signing/private-file.ts'
import { StoreUnusableError } from '../../../../store/errors.ts'
import { lockFolder } from '../../../../store/sqlite/folder-lock.ts'
import { cosign } from '../../tree/cosignature.ts'
import { encodeNote, parseNote, signatureOf, type VerifierKey, verifierKeyOf } from '../../tree/note.ts'
import { readHeadFile } from '../../verify/tree-heads.ts'

/** @throws CommandFailedError if another witness uses the folder; SettingInvalidError if the key is damaged */
export const openWitnessState = (folder: string, name: string, unixSeconds: () => number) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let lock: ReturnType<typeof lockFolder>
  try {
    lock = lockFolder(
      join(folder, 'lock'),
      folder,
      `another witness uses ${folder}: stop it, or use a different folder`,
    )
  } catch (error) {
    if (error instanceof StoreUnusableError) throw new CommandFailedError(error.detail)
    throw error
  }
  try {
    const keyFile = join(folder, 'key')
    if (!existsSync(keyFile)) makeKeyFile(keyFile)
    const { publicKey, sign } = createEd25519Signer(readKeyFile(keyFile, 'the witness key'))
    const key = verifierKeyOf(name, 'cosignature', publicKey)
    const cosigned = join(folder, 'cosigned')
    return {
      key,
      /** Returns the last cosigned head with its cosignature; null before the first. */
      before: (): Promise<string | null> => readHeadFile(cosigned),
      /** Stores the head. @returns the signature line */
      cosign: async (checkpoint: string, logKey: VerifierKey): Promise<string> => {
        const line = cosign(checkpoint, unixSeconds(), { key, sign })
        // Anyone can add signature lines to a head. With too many, it would be unreadable.
        const note = parseNote(checkpoint)
        const signatures = [signatureOf(note, logKey) ?? []].flat()
        await writePrivateFile(cosigned, encodeNote({ text: note.text, signatures }) + line)
        return line
      },
      /** Stores two contradictory signed heads. @returns the path of the file */
      keepEvidence: async (before: string, offered: string): Promise<string> => {
        const digest = new Bun.SHA256().update(offered).digest('hex').slice(0, 8)
        const file = join(folder, `evidence-${unixSeconds()}-${digest}`)
        await writePrivateFile(file, `${before}\n${offered}`)
        return file
      },
      close: lock.release,
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

export type WitnessState = ReturnType<typeof openWitnessState>
