export const DIGIT = 1
export const CAPITAL = 2
export const SMALL = 4
/** Neither a control character nor escaped in XML. */
export const PLAIN = 8

export const ASCII_MAX = 0x7f

/** The classes of each character of ASCII. */
export const classes = new Uint8Array(ASCII_MAX + 1)
for (let code = 0x20; code <= ASCII_MAX; code++) {
  classes[code] = '&<>'.includes(String.fromCharCode(code)) ? 0 : PLAIN
}
for (let i = 0; i < 10; i++) classes[0x30 + i] = PLAIN | DIGIT
for (let i = 0; i < 26; i++) {
  classes[0x41 + i] = PLAIN | CAPITAL
  classes[0x61 + i] = PLAIN | SMALL
}
