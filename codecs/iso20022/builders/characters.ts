export const digit = 1
export const capital = 2
export const small = 4
/** Neither a control character nor escaped in XML. */
export const plain = 8

export const asciiMax = 0x7f

/** The classes of each character of ASCII. */
export const classes = new Uint8Array(asciiMax + 1)
for (let code = 0x20; code <= asciiMax; code++) {
  classes[code] = '&<>'.includes(String.fromCharCode(code)) ? 0 : plain
}
for (let i = 0; i < 10; i++) classes[0x30 + i] = plain | digit
for (let i = 0; i < 26; i++) {
  classes[0x41 + i] = plain | capital
  classes[0x61 + i] = plain | small
}
