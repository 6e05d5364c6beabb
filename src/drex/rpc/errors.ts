/** Classifies a node's refusal for the caller, by Besu's codes and the texts of all clients. */
import { firstCharacters } from '#src/platform/runtime/index.ts'

export type RpcFailureKind =
  /** The node cannot be reached, is overloaded, or answered nonsense. Nothing is known. */
  | 'unreachable'
  /** No answer in time. Nothing is known. */
  | 'timed_out'
  /** The node answered, but its answer may change later. */
  | 'transient'
  /** An answer of a form that the method cannot have. Nothing is known. */
  | 'malformed'
  /** The node is on another chain than this network: it is not used. */
  | 'wrong_chain'
  /** The exchange was more than the node takes at once; the calls themselves were not looked at. */
  | 'too_large'
  | 'rate_limited'
  /** The node has not the state of the block that it was asked for, now or any more. */
  | 'no_state'
  | 'method_not_found'
  /** The node does not take such parameters. */
  | 'invalid_question'
  /** A contract refused; `data` holds its error. */
  | 'reverted'
  /** The node has this very transaction already: as good as accepted. */
  | 'known_transaction'
  | 'nonce_too_low'
  | 'nonce_too_high'
  | 'underpriced'
  | 'insufficient_funds'
  /** The network's account rules do not admit this sender or this contract. */
  | 'not_permitted'
  /** The transaction can never become valid. */
  | 'invalid_transaction'
  /** The node refuses in words that nobody knows. Nothing is known. */
  | 'refused'

export class RpcFailure extends Error {
  override readonly name = 'RpcFailure'
  readonly kind: RpcFailureKind
  readonly code: number | undefined
  /** A revert's payload, `0x…`. */
  readonly data: string | undefined

  constructor(kind: RpcFailureKind, message: string, code?: number, data?: string) {
    super(message)
    this.kind = kind
    this.code = code
    this.data = data
  }
}

/** Worth asking again, here or at the next node. */
export const isRetryable = (kind: RpcFailureKind): boolean => {
  switch (kind) {
    case 'unreachable':
    case 'timed_out':
    case 'transient':
    case 'malformed':
    case 'wrong_chain':
    case 'too_large':
    case 'rate_limited':
    case 'no_state':
    case 'refused':
      return true
    case 'method_not_found':
    case 'invalid_question':
    case 'reverted':
    case 'known_transaction':
    case 'nonce_too_low':
    case 'nonce_too_high':
    case 'underpriced':
    case 'insufficient_funds':
    case 'not_permitted':
    case 'invalid_transaction':
      return false
  }
}

/** Whether the refusal is one node's own and final: a node with other software may accept. */
export const isOfNode = (kind: RpcFailureKind): boolean =>
  kind === 'method_not_found' || kind === 'invalid_question'

/** Texts first: they are more reliable than the codes, which clients reuse. */
const byText: readonly (readonly [RegExp, RpcFailureKind])[] = [
  // Nothing after these words is the node's own.
  [
    /^(error: )?(vm exception while processing transaction: |vm |transaction )?(execution )?revert/i,
    'reverted',
  ],
  [/already (known|imported)|(^|[^n])known transaction/i, 'known_transaction'],
  [/nonce( is)? too low|nonce has already been used/i, 'nonce_too_low'],
  [
    /nonce( is)? too (high|far|distant)|exceeds next nonce|nonce out of range|tx-nonce-too-high|lower nonce exists/i,
    'nonce_too_high',
  ],
  [/underpriced|gas price (below|too low)|fee (cap|too low)|minimum gas price/i, 'underpriced'],
  [/insufficient (funds|balance)|upfront cost|enough funds/i, 'insufficient_funds'],
  // Before the limits: a contract's own words may speak of limits.
  [/^(error: )?vm exception|: revert/i, 'reverted'],
  // Before the account's rights, whose codes some nodes use for their limits.
  [
    /too many requests|rate.?limit|(requests?|rps|credits?) .{0,20}(limit|exceed)|exceeded.*(quota|capacity)|limit exceeded/i,
    'rate_limited',
  ],
  [
    /(sender|account|transaction) .{0,20}(not (authorized|permitted|allowed)|permission)/i,
    'not_permitted',
  ],
  [/revert/i, 'reverted'],
  // Words for a call that ended without its contract deciding so.
  [
    /out ?of ?gas|gas required exceeds|gas uint64 overflow|invalid.?(opcode|jump)|stack.?(underflow|overflow|limit)|call depth|evm error/i,
    'reverted',
  ],
  [
    /due to an exception|vm execution error|write protection|return.?data out of bounds|max code size|address collision/i,
    'reverted',
  ],
  [/method.*(not (found|available|supported|enabled)|does not exist)/i, 'method_not_found'],
  [/(block tag|pending) .{0,20}not (found|available|supported|enabled)/i, 'invalid_question'],
  [
    /missing trie node|world state|no state|state .{0,80}(unavailable|not available)|pruned|archive/i,
    'no_state',
  ],
  [/pool.*(full|overflow)|time.?out|try again|busy|header not found|internal/i, 'transient'],
  [
    /intrinsic gas|exceeds block gas|wrong chain|invalid (sender|chain)|oversized|init.?code|rlp/i,
    'invalid_transaction',
  ],
]

const byCode: Readonly<Record<number, RpcFailureKind>> = {
  [-32001]: 'nonce_too_low',
  [-32006]: 'nonce_too_high',
  [-32009]: 'underpriced',
  // Nethermind and OpenEthereum give this code for every execution that failed.
  [-32015]: 'reverted',
  [-32601]: 'method_not_found',
  [-32602]: 'invalid_question',
  [-32603]: 'transient',
  [-32604]: 'method_not_found',
}

/** A revert as geth and those after it tell it: the text may then be the contract's own, and decides nothing. */
const executionReverted = 3

/** Classifies the `error` of a JSON-RPC reply. */
export const classifyRpcError = (error: unknown): RpcFailure => {
  const { code, message, data } = readError(error)
  if (code === executionReverted) return new RpcFailure('reverted', message, code, data)
  const kind =
    byText.find(([pattern]) => pattern.test(message))?.[1] ?? byCode[code ?? 0] ?? 'refused'
  return new RpcFailure(
    data !== undefined && kind === 'refused' ? 'reverted' : kind,
    message,
    code,
    data,
  )
}

/** The words of other limits may hold these too, so we look for these first. */
const tooLarge = /\bbatch|too (big|large|long)\b|\b(payload|entity|request size)\b/i
/** The code with which nodes that take no batches refuse one. */
const noRequest = -32600

/**
 * Classifies the one error that a node answers to many calls. It is no call's end: which of them it means, if any, is not
 * said.
 */
export const classifyBatchError = (error: unknown): RpcFailure => {
  const { kind, message, code } = classifyRpcError(error)
  if (code === noRequest || tooLarge.test(message))
    return new RpcFailure('too_large', message, code)
  return new RpcFailure(isRetryable(kind) ? kind : 'refused', message, code)
}

export const classifyHttpStatus = (status: number): RpcFailure => {
  if (status === 429) return new RpcFailure('rate_limited', 'the node answered HTTP 429')
  if (status === 413) return new RpcFailure('too_large', 'the node answered HTTP 413')
  return new RpcFailure('unreachable', `the node answered HTTP ${status}`)
}

const messageCharactersMax = 300

const readError = (error: unknown): { code?: number; message: string; data?: string } => {
  if (typeof error !== 'object' || error === null) return { message: 'malformed error' }
  const { code, message, data } = error as Readonly<Record<string, unknown>>
  const payload = revertPayload(data)
  return {
    message:
      typeof message === 'string' ? firstCharacters(message, messageCharactersMax) : 'no message',
    ...(typeof code === 'number' ? { code } : {}),
    ...(payload === undefined ? {} : { data: payload }),
  }
}

/** Clients nest the payload differently: plain, after a word, or as `data.data`. */
const revertPayload = (data: unknown): string | undefined => {
  if (typeof data === 'string') return /^(?:reverted )?(0x[0-9a-f]*)$/i.exec(data)?.[1]
  if (typeof data === 'object' && data !== null && 'data' in data) return revertPayload(data.data)
  return undefined
}

/** For `catch`, where what a node does not tell now is asked again later. */
export const passing = (error: unknown): undefined => {
  if (!(error instanceof RpcFailure)) throw error
}
