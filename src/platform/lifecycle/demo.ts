/** What a feature's demonstration may use: the running gateway, seen from outside. */
export type DemoGateway = {
  readonly httpUrl: string
  readonly cardsUrl: string
  readonly apiKey: string
  /** Writes a sample beside the state of `dev` and gives the path a shell command can use. */
  readonly writeSample: (name: string, content: string | Uint8Array) => Promise<string>
}

/** One real operation, done through the public interface at the start of `trilho dev`. */
export type Demo = {
  readonly title: string
  /** The command that does the same when pasted in a shell. */
  readonly command: string
  /** What it answered. */
  readonly output: string
}
