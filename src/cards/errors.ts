import { defineErrors } from '#src/platform/http/index.ts'

/** Errors of cards, beside those every feature shares; shown in capitals. */
export const cardErrors = defineErrors({
  invalid_amount: {
    status: 400,
    title: 'Invalid amount',
    meaning: 'The amount is no whole number of cents from 1 to 999999999999.',
    remedy: 'Send the amount in minor units, as a JSON number.',
  },
  invalid_currency: {
    status: 400,
    title: 'Invalid currency',
    meaning: 'The currency is neither BRL nor USD.',
    remedy: 'Send one of the two.',
  },
  invalid_merchant_id: {
    status: 400,
    title: 'Invalid merchant',
    meaning: 'The merchant is missing, or no text of 1 to 15 printable ASCII characters.',
    remedy: 'Send the identifier that the acquirer gave the merchant.',
  },
  invalid_terminal_id: {
    status: 400,
    title: 'Invalid terminal',
    meaning: 'The terminal is no text of 1 to 8 printable ASCII characters.',
    remedy: 'Send the identifier of the terminal, or leave it out.',
  },
  invalid_installments: {
    status: 400,
    title: 'Invalid installments',
    meaning:
      'The number of installments is no whole number from 1 to 12, or the network of the card takes none.',
    remedy: 'Send a number of this range, or leave it out for a single payment.',
  },
  field_not_carried: {
    status: 422,
    title: 'Field not carried',
    meaning:
      'The messages to the network of this card have no place for a field of the request, or none for this value of it. Nothing was sent.',
    remedy: 'Leave the field out, or have the content of the network’s file changed.',
  },
  field_needed: {
    status: 422,
    title: 'Field needed',
    meaning: 'The network of this card needs something that the request or the vault did not give.',
    remedy: 'Send the field that details.field names.',
  },
  merchant_profile_missing: {
    status: 422,
    title: 'Merchant profile missing',
    meaning: 'The network of this card needs the category, name or city of the merchant.',
    remedy: 'Enter the merchant in the file of CARDGW_MERCHANTS_FILE, and start again.',
  },
  invalid_card_token: {
    status: 400,
    title: 'Invalid card token',
    meaning: 'The token is missing, too long, has blanks, or is a card number itself.',
    remedy: 'Send the token of the vault; never send a card number.',
  },
  invalid_capture: {
    status: 400,
    title: 'Invalid capture flag',
    meaning: 'The value of capture is neither true nor false.',
    remedy: 'Send a JSON boolean, or leave it out.',
  },
  card_token_not_found: {
    status: 400,
    title: 'Card token not found',
    meaning: 'The vault does not know the token.',
    remedy: 'Check the token, or have the card tokenized anew.',
  },
  unsupported_card_range: {
    status: 400,
    title: 'Unsupported card',
    meaning: 'No configured network takes cards of this range.',
    remedy: 'Ask for another card, or configure the network.',
  },
  amount_exceeds_authorized: {
    status: 400,
    title: 'Amount exceeds the authorized one',
    meaning:
      'A capture or partial void may be as large as what is left of the authorization, no larger.',
    remedy: 'Send at most the authorized amount less captured_amount and reversed_amount.',
  },
  invalid_outcome: {
    status: 400,
    title: 'Invalid outcome',
    meaning: 'The outcome is none that a reversal can end with.',
    remedy: 'Send the status that the network confirms the transaction to be in.',
  },
  invalid_reason: {
    status: 400,
    title: 'Invalid reason',
    meaning:
      'The reason is no text of 1 to 200 printable characters, or has twelve digits or more in a row, which may be a card number.',
    remedy: 'Say in words who confirmed the outcome, without card data.',
  },
  outcome_not_possible: {
    status: 409,
    title: 'Outcome not possible',
    meaning: 'The reversal that waits for an answer cannot end in this status.',
    remedy:
      'Read the transaction: an authorization can end voided, a capture authorized, captured or partially_captured, a void voided or as it was, a partial void partially_voided or authorized, a refund refunded or captured, an increment incremented or as it was.',
  },
  invalid_state: {
    status: 409,
    title: 'Invalid state',
    meaning: 'The status of the transaction, or what is under way on it, rules the operation out.',
    remedy: 'Read the transaction and decide anew.',
  },
  capture_declined: {
    status: 422,
    title: 'Capture declined',
    meaning:
      'The card network refused the capture; details.response_code says why. The status is as it was.',
    remedy: 'Read the transaction; capture again or void, as the code advises.',
  },
  increment_declined: {
    status: 422,
    title: 'Increment declined',
    meaning:
      'The card network refused to raise the authorized amount; details.response_code says why. The amount is as it was.',
    remedy: 'Go on with the authorized amount, or authorize the rest on its own.',
  },
  void_declined: {
    status: 422,
    title: 'Void declined',
    meaning:
      'The card network refused the void; details.response_code says why. The status is as it was.',
    remedy: 'Read the transaction; void again later, or ask the network.',
  },
  refund_declined: {
    status: 422,
    title: 'Refund declined',
    meaning:
      'The card network refused the refund; details.response_code says why. The status is as it was.',
    remedy: 'Read the transaction; refund again later, or ask the network.',
  },
  operation_not_taken: {
    status: 409,
    title: 'Operation not taken',
    meaning: 'The file of the card network says that it takes no messages of this kind.',
    remedy: 'Use another operation, or have the content of the network’s file changed.',
  },
  amount_exceeds_captured: {
    status: 400,
    title: 'Amount exceeds the captured one',
    meaning: 'Refunds may be as large as the capture together, no larger.',
    remedy: 'Refund at most captured_amount less refunded_amount.',
  },
  transaction_not_found: {
    status: 404,
    title: 'Transaction not found',
    meaning: 'No card transaction has this identifier.',
    remedy: 'Check the identifier.',
  },
  reconciliation_not_found: {
    status: 404,
    title: 'Reconciliation not found',
    meaning: 'No business day with this identifier waits for somebody.',
    remedy: 'Read the list again: another person may have seen to it.',
  },
  advice_not_found: {
    status: 404,
    title: 'Advice not found',
    meaning: 'No advice of a card network with this identifier waits for somebody.',
    remedy: 'Read the list again: another person may have seen to it.',
  },
  network_unavailable: {
    status: 502,
    title: 'Card network unavailable',
    meaning:
      'The connection to the card network failed. details.sent tells whether the network may have acted; if so, what it did is being reversed, or a void repeated.',
    remedy: 'Repeat when sent is false; read the transaction when it is true.',
    retryable: true,
  },
  network_timeout: {
    status: 504,
    title: 'Card network timeout',
    meaning:
      'The card network did not answer in time; whatever it did is being reversed, or a void repeated. What is open in a restored copy may wait for a person.',
    remedy: 'Read the transaction until it is voided; repeat under a new key only then.',
  },
  vault_unavailable: {
    status: 503,
    title: 'Token vault unavailable',
    meaning: 'The token vault did not give the card number. Nothing was sent.',
    remedy: 'Repeat later.',
    retryable: true,
  },
  cards_too_busy: {
    status: 503,
    title: 'Too busy',
    meaning: 'More card transactions wait to be written than the gateway keeps. Nothing was sent.',
    remedy: 'Repeat later with the same Idempotency-Key.',
    retryable: true,
  },
})
