#include "textflag.h"

// Four copies of every constant, so that they can be memory operands.
#define QUAD(name, value) \
	DATA name<>+0(SB)/8, value  \
	DATA name<>+8(SB)/8, value  \
	DATA name<>+16(SB)/8, value \
	DATA name<>+24(SB)/8, value \
	GLOBL name<>(SB), RODATA|NOPTR, $32

QUAD(absolute, $0x7fffffffffffffff)
QUAD(sign, $0x8000000000000000)
QUAD(limit, $40.0)
QUAD(least, $708.0)
QUAD(one, $1.0)
QUAD(two, $2.0)
QUAD(perLn2, $-1.4426950408889634)
QUAD(rounder, $6755399441055744.0)
QUAD(ln2High, $0.69314718036912381649)
QUAD(ln2Low, $1.90821492927058770002e-10)
QUAD(c2, $0.5)
QUAD(c3, $0.16666666666666666)
QUAD(c4, $0.041666666666666664)
QUAD(c5, $0.008333333333333333)
QUAD(c6, $0.001388888888888889)
QUAD(c7, $0.0001984126984126984)
QUAD(c8, $2.48015873015873e-05)
QUAD(c9, $2.7557319223985893e-06)
QUAD(c10, $2.755731922398589e-07)
QUAD(c11, $2.505210838544172e-08)
QUAD(c12, $2.08767569878681e-09)
QUAD(c13, $1.6059043836821613e-10)

// EXP takes a ≥ 0 in Y1 and leaves p = eʳ − 1 in Y6 and 2^k in Y3 for
// e⁻ᵃ = 2^k·(1 + p), |r| ≤ ln2/2. The series of p goes to r¹³. It needs the sign
// bits in Y13, rounder in Y14 and one in Y15, and uses Y4, Y5 and Y7.
#define EXP \
	VMOVAPD Y1, Y3                    \
	VFMADD132PD perLn2<>(SB), Y14, Y3 \ // −a/ln2 + rounder
	VSUBPD  Y14, Y3, Y4               \ // k
	VXORPD  Y13, Y1, Y5               \ // −a
	VFNMADD231PD ln2High<>(SB), Y4, Y5 \
	VFNMADD231PD ln2Low<>(SB), Y4, Y5 \ // r
	VMOVUPD c13<>(SB), Y6             \
	VFMADD213PD c12<>(SB), Y5, Y6     \
	VFMADD213PD c11<>(SB), Y5, Y6     \
	VFMADD213PD c10<>(SB), Y5, Y6     \
	VFMADD213PD c9<>(SB), Y5, Y6      \
	VFMADD213PD c8<>(SB), Y5, Y6      \
	VFMADD213PD c7<>(SB), Y5, Y6      \
	VFMADD213PD c6<>(SB), Y5, Y6      \
	VFMADD213PD c5<>(SB), Y5, Y6      \
	VFMADD213PD c4<>(SB), Y5, Y6      \
	VFMADD213PD c3<>(SB), Y5, Y6      \
	VFMADD213PD c2<>(SB), Y5, Y6      \
	VMULPD  Y5, Y5, Y7                \
	VFMADD213PD Y5, Y7, Y6            \ // p
	VPSLLQ  $52, Y3, Y3               \
	VPADDQ  Y15, Y3, Y3               // 2^k

// func tanhAVX2(y *float64, n int)
//
// See tanhGo for the method; the exponential takes no table here.
TEXT ·tanhAVX2(SB), NOSPLIT, $0-16
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	SHRQ $2, CX
	JZ   done
	VMOVUPD absolute<>(SB), Y12
	VMOVUPD sign<>(SB), Y13
	VMOVUPD rounder<>(SB), Y14
	VMOVUPD one<>(SB), Y15

loop:
	VMOVUPD (DI), Y0              // x
	VANDPD  Y12, Y0, Y1
	VADDPD  Y1, Y1, Y1            // a = 2|x|
	VMOVUPD limit<>(SB), Y2
	VMINPD  Y1, Y2, Y1            // a is the second operand: NaN stays
	EXP
	VSUBPD  Y15, Y3, Y8           // 2^k − 1
	VFMADD213PD Y8, Y3, Y6        // m = 2^k·p + (2^k − 1)
	VADDPD  two<>(SB), Y6, Y9
	VDIVPD  Y9, Y6, Y6            // m/(m + 2)
	VANDPD  Y12, Y6, Y6
	VANDPD  Y13, Y0, Y0
	VORPD   Y0, Y6, Y6
	VMOVUPD Y6, (DI)
	ADDQ    $32, DI
	DECQ    CX
	JNZ     loop
	VZEROUPPER

done:
	RET

// func tanhAVX512(y *float64, n int)
//
// The steps of tanhAVX2, eight values at a time, with its constants broadcast.
TEXT ·tanhAVX512(SB), NOSPLIT, $0-16
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	SHRQ $3, CX
	JZ   done
	VBROADCASTSD absolute<>(SB), Z12
	VBROADCASTSD sign<>(SB), Z13
	VBROADCASTSD rounder<>(SB), Z14
	VBROADCASTSD one<>(SB), Z15
	VBROADCASTSD limit<>(SB), Z16
	VBROADCASTSD two<>(SB), Z17
	VBROADCASTSD c13<>(SB), Z18
	VBROADCASTSD c12<>(SB), Z19
	VBROADCASTSD c11<>(SB), Z20
	VBROADCASTSD c10<>(SB), Z21
	VBROADCASTSD c9<>(SB), Z22
	VBROADCASTSD c8<>(SB), Z23
	VBROADCASTSD c7<>(SB), Z24
	VBROADCASTSD c6<>(SB), Z25
	VBROADCASTSD c5<>(SB), Z26
	VBROADCASTSD c4<>(SB), Z27
	VBROADCASTSD c3<>(SB), Z28
	VBROADCASTSD c2<>(SB), Z29
	VBROADCASTSD ln2High<>(SB), Z30
	VBROADCASTSD ln2Low<>(SB), Z31
	VBROADCASTSD perLn2<>(SB), Z11

loop:
	VMOVUPD (DI), Z0
	VPANDQ  Z12, Z0, Z1
	VADDPD  Z1, Z1, Z1
	VMINPD  Z1, Z16, Z1           // a is the second operand: NaN stays
	VMOVAPD Z1, Z3
	VFMADD132PD Z11, Z14, Z3
	VSUBPD  Z14, Z3, Z4
	VPXORQ  Z13, Z1, Z5
	VFNMADD231PD Z30, Z4, Z5
	VFNMADD231PD Z31, Z4, Z5
	VMOVAPD Z18, Z6
	VFMADD213PD Z19, Z5, Z6
	VFMADD213PD Z20, Z5, Z6
	VFMADD213PD Z21, Z5, Z6
	VFMADD213PD Z22, Z5, Z6
	VFMADD213PD Z23, Z5, Z6
	VFMADD213PD Z24, Z5, Z6
	VFMADD213PD Z25, Z5, Z6
	VFMADD213PD Z26, Z5, Z6
	VFMADD213PD Z27, Z5, Z6
	VFMADD213PD Z28, Z5, Z6
	VFMADD213PD Z29, Z5, Z6
	VMULPD  Z5, Z5, Z7
	VFMADD213PD Z5, Z7, Z6
	VPSLLQ  $52, Z3, Z3
	VPADDQ  Z15, Z3, Z3
	VSUBPD  Z15, Z3, Z8
	VFMADD213PD Z8, Z3, Z6
	VADDPD  Z17, Z6, Z9
	VDIVPD  Z9, Z6, Z6
	VPANDQ  Z12, Z6, Z6
	VPANDQ  Z13, Z0, Z0
	VPORQ   Z0, Z6, Z6
	VMOVUPD Z6, (DI)
	ADDQ    $64, DI
	DECQ    CX
	JNZ     loop
	VZEROUPPER

done:
	RET

// func sigmoidsAVX2(y *float64, n int)
TEXT ·sigmoidsAVX2(SB), NOSPLIT, $0-16
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	SHRQ $2, CX
	JZ   done
	VMOVUPD absolute<>(SB), Y12
	VMOVUPD sign<>(SB), Y13
	VMOVUPD rounder<>(SB), Y14
	VMOVUPD one<>(SB), Y15

loop:
	VMOVUPD (DI), Y0              // x
	VANDPD  Y12, Y0, Y8
	VMOVUPD least<>(SB), Y2
	VMINPD  Y8, Y2, Y1            // a = |x| at most, NaN stays
	EXP
	VFMADD213PD Y3, Y3, Y6        // e = e⁻ᵃ = 2^k·p + 2^k
	VCMPPD  $30, Y2, Y8, Y9       // |x| > least, false for NaN
	VANDNPD Y6, Y9, Y6            // e = 0 there
	VADDPD  Y15, Y6, Y8           // 1 + e
	VBLENDVPD Y0, Y6, Y15, Y6     // e where x is negative, else 1
	VDIVPD  Y8, Y6, Y6
	VMOVUPD Y6, (DI)
	ADDQ    $32, DI
	DECQ    CX
	JNZ     loop
	VZEROUPPER

done:
	RET
