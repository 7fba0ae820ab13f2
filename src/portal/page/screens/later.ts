// The screens after the agreement: one file, which is loaded while the person reads what they agree to.
import { Details } from './details.tsx'
import { Documents } from './documents.tsx'
import { Elsewhere } from './elsewhere.tsx'
import { Outcome } from './outcome.tsx'
import { Review } from './review.tsx'
import { Wallets } from './wallets.tsx'

export const LATER_SCREENS = { Wallets, Details, Documents, Review, Outcome, Elsewhere }
