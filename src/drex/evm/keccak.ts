/**
 * Keccak-256 as Ethereum has it (padding of the submission, not of FIPS 202). Every address, signature and proof of a
 * block takes several, and lanes of 64 bits are slow in JavaScript: the permutation is a WebAssembly function, written
 * out here instruction by instruction from the specification (Keccak reference 3.0, section 1.2).
 */

const lanes = 25
const rounds = 24
const rateBytes = 136
const digestBytes = 32
/** Where the function finds its block of input and the constants of the rounds; the state is at 0. */
const inputAt = 256
const constantsAt = 512

const leb = (value: number): readonly number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >> 7)]
const sized = (bytes: readonly number[]): readonly number[] => [...leb(bytes.length), ...bytes]
const section = (id: number, ...items: readonly (readonly number[])[]): readonly number[] => [
  id,
  ...sized([...leb(items.length), ...items.flat()]),
]

const [xor, and, rotl, not] = [[0x85], [0x83], [0x89], [0x42, 0x7f, 0x85]] as const
const get = (local: number) => [0x20, ...leb(local)]
const set = (local: number) => [0x21, ...leb(local)]
const long = (value: number) => [0x42, value]
/** The local with the round's place in the constants, and the addresses counted from 0. */
const round = 0
const zero = [0x41, 0]
const load = (address: readonly number[], offset: number) => [...address, 0x29, 3, ...leb(offset)]
const store = (offset: number, value: readonly number[]) => [
  ...zero,
  ...value,
  0x37,
  3,
  ...leb(offset),
]

/** Locals: the state, the state after ρ and π, and the parities of the columns. */
const a = (x: number, y: number) => 1 + (x % 5) + 5 * (y % 5)
const b = (x: number, y: number) => lanes + a(x, y)
const c = (x: number) => 1 + 2 * lanes + (x % 5)
const five = [0, 1, 2, 3, 4] as const
const every = <T>(write: (x: number, y: number) => readonly T[]): readonly T[] =>
  five.flatMap((y) => five.flatMap((x) => write(x, y)))

/** How far ρ turns each lane: t steps of (x, y) → (y, 2x + 3y) from (1, 0). */
const turns = (() => {
  const found = new Map<number, number>()
  let [x, y] = [1, 0]
  for (let t = 0; t < rounds; t++) {
    found.set(a(x, y), (((t + 1) * (t + 2)) / 2) % 64)
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return found
})()

const oneRound: readonly number[] = [
  ...five.flatMap((x) => [
    ...get(a(x, 0)),
    ...[1, 2, 3, 4].flatMap((y) => [...get(a(x, y)), ...xor]),
    ...set(c(x)),
  ]),
  ...every((x, y) => [
    ...[...get(a(x, y)), ...get(c(x + 4)), ...xor],
    ...[...get(c(x + 1)), ...long(1), ...rotl, ...xor],
    ...[...long(turns.get(a(x, y)) ?? 0), ...rotl],
    ...set(b(y, 2 * x + 3 * y)),
  ]),
  ...every((x, y) => [
    ...[...get(b(x, y)), ...get(b(x + 1, y)), ...not],
    ...[...get(b(x + 2, y)), ...and, ...xor, ...set(a(x, y))],
  ]),
  ...[...get(a(0, 0)), ...load(get(round), constantsAt), ...xor, ...set(a(0, 0))],
]

/** Takes a block of input into the state, and permutes it. */
const absorbing: readonly number[] = [
  ...every((x, y) => {
    const at = 8 * (x + 5 * y)
    const taken = at < rateBytes ? [...load(zero, inputAt + at), ...xor] : []
    return [...load(zero, at), ...taken, ...set(a(x, y))]
  }),
  ...[0x03, 0x40, ...oneRound],
  // The next round, until all are done.
  ...[...get(round), 0x41, 8, 0x6a, 0x22, round, 0x41, ...leb(rounds * 8), 0x47, 0x0d, 0, 0x0b],
  ...every((x, y) => store(8 * (x + 5 * y), get(a(x, y)))),
]

const module = new WebAssembly.Module(
  Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [0x60, 0, 0]),
    ...section(3, [0]),
    ...section(5, [0, 1]),
    ...section(7, [1, 0x6d, 2, 0], [1, 0x61, 0, 0]),
    ...section(10, sized([2, 1, 0x7f, ...leb(2 * lanes + 5), 0x7e, ...absorbing, 0x0b])),
  ]),
)
const { m: memory, a: absorb } = new WebAssembly.Instance(module).exports as {
  readonly m: WebAssembly.Memory
  readonly a: () => void
}
const state = new Uint8Array(memory.buffer, 0, 8 * lanes)
const block = new Uint8Array(memory.buffer, inputAt, rateBytes)

/** The constants of ι, by its shift register of eight bits. */
const constants = new DataView(memory.buffer, constantsAt)
let register = 1
for (let i = 0; i < rounds; i++) {
  let constant = 0n
  for (let j = 0; j < 7; j++) {
    if ((register & 1) === 1) constant |= 1n << BigInt(2 ** j - 1)
    register = (register << 1) ^ ((register >> 7) * 0x171)
  }
  constants.setBigUint64(8 * i, constant, true)
}

export const keccak256 = (input: Uint8Array): Uint8Array => {
  state.fill(0)
  let at = 0
  for (; at + rateBytes <= input.length; at += rateBytes) {
    block.set(input.subarray(at, at + rateBytes))
    absorb()
  }
  block.fill(0)
  block.set(input.subarray(at))
  block[input.length - at] = 0x01
  block[rateBytes - 1] = (block[rateBytes - 1] ?? 0) | 0x80
  absorb()
  return state.slice(0, digestBytes)
}
