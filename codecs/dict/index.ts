export { type Account, cidOf, type DirectoryEntry, type HmacSha256, type KeyType } from './cid.ts'
export {
  type Claim,
  type ClaimRequest,
  type ClaimStatus,
  type ClaimType,
  claimElement,
  claimStatuses,
  claimTypes,
  readClaim,
  readClaimRequest,
} from './claim.ts'
export {
  accountElement,
  type EntryRequest,
  entryElement,
  type KeptEntry,
  keyTypes,
  personElement,
  personTypeOf,
  readAccount,
  readEntryRequest,
  readKeptEntry,
  readKeyType,
  readPerson,
} from './entry.ts'
export {
  type Contact,
  fraudTypes,
  type InfractionReport,
  type InfractionRequest,
  type InfractionResult,
  type InfractionStatus,
  infractionElement,
  infractionReasons,
  infractionResults,
  infractionStatuses,
  readInfractionReport,
  readInfractionRequest,
  situationTypes,
} from './infraction.ts'
export { type DirectoryPage, readPage } from './list.ts'
export {
  childrenOf,
  demandText,
  type Element,
  nodeAt,
  textAt,
  writeElement,
} from './markup.ts'
export { type DirectoryProblem, problemElement, readProblem } from './problem.ts'
export {
  type DirectoryRefund,
  type RefundAnalysis,
  type RefundRequest,
  type RefundResult,
  type RefundStatus,
  readRefund,
  readRefundAnalysis,
  readRefundRequest,
  refundAnalysisElements,
  refundElement,
  refundReasons,
  refundRejectionReasons,
  refundResults,
  refundStatuses,
} from './refund.ts'
export { momentText, oneOf, proseAt } from './values.ts'
export { createVsync, emptyVsync, type Vsync } from './vsync.ts'
