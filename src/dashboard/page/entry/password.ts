// What a new password has to be, said before it is sent; the server has the last word.
import type { FieldErrors } from '../data/use-form.ts'

const LENGTH_MIN = 12

export const PASSWORD_HINT = `At least ${LENGTH_MIN} characters. A few words that nobody would put together are best.`

export const checkPassword = (field: string, password: string): FieldErrors =>
  [...password].length < LENGTH_MIN ? { [field]: `At least ${LENGTH_MIN} characters.` } : {}
