import { defineErrors } from '#src/platform/http/index.ts'

/** What may come of asking the directory of Pix keys. */
export const dictErrors = defineErrors({
  dict_key_not_found: {
    status: 404,
    title: 'No such Pix key',
    meaning: 'The directory has no entry for the key.',
    remedy: 'Ask the receiver for the key again. Keys that are not there cost twenty lookups.',
  },
  dict_key_of_this_institution: {
    status: 422,
    title: 'Pix key of this institution',
    meaning:
      'The key is in this institution\u2019s own custody: the directory is not asked for it, and the SPI does not settle what stays within one institution.',
    remedy: 'Pay it in your own books.',
  },
  dict_limited: {
    status: 429,
    title: 'Too many lookups',
    meaning:
      'The payer, or the institution, has looked up as many keys as the directory allows for now.',
    remedy:
      'Repeat after the seconds of Retry-After. A payment for what was looked up gives its lookup back.',
    retryable: true,
  },
  dict_refused: {
    status: 422,
    title: 'Refused by the directory',
    meaning: 'The directory refuses what was asked; directory_code is its name for why.',
    remedy: 'Look the code up in the directory\u2019s description.',
  },
  dict_unavailable: {
    status: 503,
    title: 'Directory unavailable',
    meaning:
      'The directory gave no answer that can be used, and nothing was paid; reason says which: timeout, connection, status, too_large, document, signature, signing or circuit_open.',
    remedy: 'Repeat the request. Where reason is signature, see to DICT_TRUSTED_CERTS_PATH.',
    retryable: true,
  },
  dict_entry_exists: {
    status: 409,
    title: 'Pix key registered already',
    meaning: 'This institution has registered the key, or is registering it.',
    remedy: 'Look the entry up by its key; change or remove it there.',
  },
  dict_entry_not_registered: {
    status: 409,
    title: 'Entry not registered',
    meaning:
      'The entry is not registered, or something else is asked of it that the directory has not answered yet; entry_status says which.',
    remedy: 'Repeat the request once the entry is registered.',
  },
  dict_dispute_exists: {
    status: 409,
    title: 'Asked for already',
    meaning: 'One about the same payment, for the same reason, goes on or waits for the directory.',
    remedy: 'Look it up by its transaction_id.',
  },
  dict_dispute_not_yours: {
    status: 409,
    title: 'Of the other institution to do',
    meaning: 'Who asks may cancel, who is asked acknowledges and closes; role says which we are.',
    remedy: 'Wait for the other institution.',
  },
  dict_dispute_state: {
    status: 409,
    title: 'Not in this state',
    meaning:
      'Its state does not allow what is asked, it was closed with another outcome, or something else is asked of it that the directory has not answered yet; dispute_status says which, and result how it was closed.',
    remedy: 'Look it up, and repeat the request once its state allows it.',
  },
  dict_return_impossible: {
    status: 409,
    title: 'The payment cannot be given back like this',
    meaning:
      'Nothing was returned, and the request stays open: reason says why, such as no_payment, refund_exceeds_payment with what is refundable, or return_made.',
    remedy: 'Accept it in part, or reject it with a reason.',
  },
  dict_comparison_running: {
    status: 409,
    title: 'A comparison runs',
    meaning: 'The entries of this type are being compared.',
    remedy: 'Wait until that comparison is done.',
    retryable: true,
  },
  dict_difference_mended: {
    status: 409,
    title: 'Mended otherwise',
    meaning:
      'The other side of this difference was kept before, or one of both has changed since it was compared.',
    remedy: 'Compare again, and mend what still differs.',
  },
  dict_claim_exists: {
    status: 409,
    title: 'Pix key claimed already',
    meaning: 'A claim of this institution to the key is under way.',
    remedy: 'Look the claim up by its key, and lead it to its end or cancel it.',
  },
  dict_claim_not_possible: {
    status: 409,
    title: 'Not possible for this claim now',
    meaning:
      'Status, side or period of the claim do not allow it, or the directory has not answered something else that was asked; claim_status, role, pending and possible_from say which.',
    remedy:
      'Look at the claim: next says what it waits for. Repeat from possible_from on, if there is one.',
  },
  dict_lookup_unknown: {
    status: 409,
    title: 'No such lookup',
    meaning:
      'The end_to_end_id is of no lookup of this account that was made for this key and payer, is not paid yet and is younger than 15 minutes.',
    remedy: 'Look the key up again and pay with the new end_to_end_id.',
  },
  dict_entry_changed: {
    status: 409,
    title: 'The Pix key has changed hands',
    meaning: 'Owner or account of the key is no longer what the lookup showed. Nothing was paid.',
    remedy: 'Look the key up again and have the payer confirm who is paid now.',
  },
})
