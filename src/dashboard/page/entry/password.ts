// Rules for new passwords, checked before submission; the server has the final decision.
import type { FieldErrors } from '../data/use-form.ts'

const LENGTH_MIN = 12

export const PASSWORD_HINT = `At least ${LENGTH_MIN} characters. Several unrelated words work best.`
export const PASSWORD_PATTERN = [/^.{12}/su, `Enter at least ${LENGTH_MIN} characters.`] as const

export const checkPassword = (field: string, password: string): FieldErrors =>
  PASSWORD_PATTERN[0].test(password) ? {} : { [field]: PASSWORD_PATTERN[1] }
