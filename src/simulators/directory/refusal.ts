/** Why the directory refuses, by the names of its description, with the status that goes with each. */
const refusals = {
  BadRequest: [400, 'Bad Request'],
  Forbidden: [403, 'Forbidden'],
  NotFound: [404, 'Not found'],
  ResourceConflict: [409, 'Conflict'],
  RateLimited: [429, 'Rate limited'],
  InternalServerError: [500, 'Internal server error'],
  ServiceUnavailable: [503, 'Service Unavailable'],
  RequestSignatureInvalid: [400, 'Request signature is invalid'],
  RequestIdAlreadyUsed: [400, 'RequestId was used before'],
  InvalidReason: [400, 'Reason is invalid'],
  EntryInvalid: [400, 'Entry is invalid'],
  EntryLimitExceeded: [400, 'Entry limit exceeded'],
  EntryAlreadyExists: [400, 'Entry already exists'],
  EntryCannotBeQueriedForBookTransfer: [400, 'Entry is in custody of the payer’s participant'],
  EntryKeyOwnedByDifferentPerson: [400, 'Key is owned by a different person'],
  EntryKeyInCustodyOfDifferentParticipant: [400, 'Key is in custody of a different participant'],
  EntryTaxIdNumberByDifferentOwner: [400, 'TaxIdNumber is not that of the owner of the key'],
  InfractionReportInvalid: [400, 'Infraction report is invalid'],
  InfractionReportOperationInvalid: [400, 'Status of the report does not allow the operation'],
  InfractionReportTransactionNotFound: [400, 'Transaction not found'],
  InfractionReportTransactionNotSettled: [400, 'Transaction is not settled'],
  InfractionReportAlreadyBeingProcessedForTransaction: [400, 'There is an open report'],
  InfractionReportAlreadyProcessedForTransaction: [400, 'There is a closed report'],
  InfractionReportPeriodExpired: [400, 'The time to report the transaction is over'],
  RefundInvalid: [400, 'Refund is invalid'],
  RefundOperationInvalid: [400, 'Status of the refund does not allow the operation'],
  RefundTransactionNotFound: [400, 'Transaction not found'],
  RefundTransactionNotSettled: [400, 'Transaction is not settled'],
  RefundAlreadyProcessedForTransaction: [400, 'There is a closed refund'],
  RefundAlreadyBeingProcessedForTransaction: [400, 'There is an open refund'],
  RefundPeriodExpired: [400, 'The time to refund the transaction is over'],
  RefundInfractionReportNotFound: [400, 'No infraction report agrees that it was fraud'],
  EntryLockedByClaim: [400, 'Entry is locked by a claim'],
  ClaimInvalid: [400, 'Claim is invalid'],
  ClaimTypeInconsistent: [400, 'Claim type is inconsistent'],
  ClaimKeyNotFound: [404, 'Claimed key does not exist'],
  ClaimAlreadyExistsForKey: [400, 'Claim already exists for key'],
  ClaimResultingEntryAlreadyExists: [400, 'Resulting entry already exists'],
  ClaimOperationInvalid: [400, 'Claim operation is invalid'],
  ClaimResolutionPeriodNotEnded: [400, 'Resolution period has not ended'],
  ClaimCompletionPeriodNotEnded: [400, 'Completion period has not ended'],
} as const

type RefusalCode = keyof typeof refusals

/** The directory's answer in place of the requested one. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly headers: Readonly<Record<string, string>>

  constructor(code: RefusalCode, detail = '', headers: Readonly<Record<string, string>> = {}) {
    super(detail)
    this.code = code
    this.headers = headers
  }

  get status(): number {
    return refusals[this.code][0]
  }

  get title(): string {
    return refusals[this.code][1]
  }
}
